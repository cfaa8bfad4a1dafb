"""Baselines of reference.py, and baselines with a file of their own."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest

from sitegen.model.kernel import Implementation, Language

pytestmark = pytest.mark.torch


@pytest.fixture
def runnables():
    return importlib.import_module("sitegen.measure.runnable")


@pytest.fixture
def library(add_kernel, tmp_path):
    """The vector addition with a baseline in a file of its own, before the one of reference.py."""
    folder = tmp_path / "kernels" / "add"
    folder.mkdir(parents=True)
    (folder / "reference.py").write_text(add_kernel.REFERENCE)
    (folder / "library.py").write_text(
        "def add(x, y, *, out=None):\n    return (x + y) if out is None else out.copy_(x + y)\n"
    )
    one = Implementation("library", "kernels/add/library.py", Language.TRITON)
    kernel = add_kernel.kernel(())
    return tmp_path, replace(kernel, baselines=("library", "torch"), baseline_files=(one,))


def test_a_baseline_with_a_file_is_called_like_an_implementation(runnables, library):
    import torch

    folder, kernel = library
    x, y = torch.arange(3.0), torch.ones(3)
    made = runnables.baseline_runnable(folder, kernel, "library", "float32", {})
    assert made.run_allocating([x, y], {"N": 3})[0].tolist() == [1.0, 2.0, 3.0]


def test_the_error_of_a_baseline_is_limited_by_one_of_the_reference(runnables, library):
    folder, kernel = library
    name = runnables.first_reference_baseline(kernel)
    assert name == "torch"
    assert isinstance(runnables.baseline_runnable(folder, kernel, name, "float32", {}), runnables.BaselineRunnable)
    assert runnables.first_reference_baseline(replace(kernel, baselines=("library",))) == ""


def test_a_baseline_that_is_nowhere_is_an_error_that_names_those_that_exist(runnables, library):
    folder, kernel = library
    with pytest.raises(runnables.CompileError, match="no baseline `cub`, only torch"):
        runnables.baseline_runnable(folder, kernel, "cub", "float32", {})
