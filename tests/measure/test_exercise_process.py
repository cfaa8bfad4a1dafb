"""The shapes at which the check of an exercise calls a wrong kernel are small enough for the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.model.kernel import Kernel
from sitegen.read.load import load_site

pytest.importorskip("torch")

from sitegen.measure.exercise_process import ALIGNED, MOST_INTERPRETED, _elements, _fitting

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    return {kernel.name: kernel for kernel in load_site(Path(__file__).parents[2])[0].kernels}


def test_sizes_before_the_last_are_halved_until_the_inputs_fit(kernels: dict[str, Kernel]) -> None:
    attention = kernels["attention"]
    shapes = [_fitting(attention, sizes) for sizes in ALIGNED[3]]
    assert shapes[:2] == [{"B": 2, "H": 4, "T": 64}, {"B": 2, "H": 2, "T": 128}]
    assert [dims["T"] for dims in shapes] == [sizes[-1] for sizes in ALIGNED[3]]
    assert all(_elements(attention, dims) <= MOST_INTERPRETED for dims in shapes)


def test_sizes_that_fit_stay_as_they_are(kernels: dict[str, Kernel]) -> None:
    assert _fitting(kernels["matmul"], (32, 64, 128)) == {"M": 32, "N": 64, "K": 128}
    assert _fitting(kernels["vector_add"], (16384,)) == {"N": 16384}
