"""Starters: a site with each of them has no mistake, and a name that exists already is refused."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.pipeline.in_memory import check
from sitegen.read.load import load_site
from sitegen.write.output import OutputError
from sitegen.write.scaffold import create, new_site_files
from sitegen.write.starters import new_exercise_files, new_kernel_files, new_series_file, new_worklog_file

DAY = dt.date(2026, 11, 21)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    create(tmp_path, new_site_files("Notes", DAY))
    return tmp_path


def test_site_with_every_starter_has_no_mistake(root: Path) -> None:
    create(root, new_kernel_files("relu"))
    create(root, new_series_file('From "A" to B'))
    create(root, new_worklog_file(DAY + dt.timedelta(1)))
    made, _ = load_site(root)
    (relu,) = (one for one in made.kernels if one.name == "relu")
    create(root, new_exercise_files("Write: a relu", relu, made.files))
    site = check(root, as_of=DAY + dt.timedelta(2))
    assert [one for one in site.diagnostics if one.severity == "error"] == []
    assert "exercises/write-a-relu/index.html" in site.files
    assert "kernels/relu/index.html" in site.files
    assert "series/from-a-to-b/index.html" in site.files


def test_starter_of_an_exercise_takes_what_the_solution_takes(root: Path) -> None:
    site, _ = load_site(root)
    code = new_exercise_files("A", site.kernels[0], site.files)["content/exercises/a/starter.py"]
    assert "def axpy(x: torch.Tensor, y: torch.Tensor, *, alpha: float, out: torch.Tensor | None = None):" in code
    compile(code, "starter.py", "exec")


@pytest.mark.parametrize("name", ["a-b", "class", "1d", "größe", "../x", ""])
def test_name_that_is_no_function_is_no_kernel(name: str) -> None:
    with pytest.raises(OutputError, match="is no name of a kernel"):
        new_kernel_files(name)


def test_starter_replaces_nothing(root: Path) -> None:
    with pytest.raises(OutputError, match="exists already"):
        create(root, new_kernel_files("axpy"))


def test_second_starter_of_a_day_names_the_command_that_opens_it(root: Path) -> None:
    with pytest.raises(OutputError) as raised:
        create(root, new_worklog_file(DAY))
    assert raised.value.diagnostic.hint == "nothing was written; `sitegen worklog today` opens it"


def test_exercise_needs_a_solution_in_triton(root: Path) -> None:
    (axpy,) = load_site(root)[0].kernels
    with pytest.raises(OutputError, match="no implementation in Triton"):
        new_exercise_files("A", replace(axpy, implementations=()), {})
