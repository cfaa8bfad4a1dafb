"""Code of a site that looks for a network, and for files of other programs in the folder for temporary files."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import psutil
import pytest

from sitegen.cli.verdicts import notes
from sitegen.execute import measure_process
from sitegen.execute.measure_process import MeasureProcess
from sitegen.execute.notebook import run_notebook
from sitegen.model.job import JOB_SCHEMA, JobResult, Key, NotebookCell, NotebookJob

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
WITHOUT = """
import os, sys
open(sys.argv[1], "w").write("code of the site can reach the network")
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""A program in place of confinement.py, as it acts on a system that makes no namespaces."""


def run_cell(source: str) -> JobResult:
    return run_notebook(NotebookJob("posts/p", "p", (NotebookCell("look", source, Key("k"), timeout_s=60.0),), {}))


def text_of(result: JobResult) -> str:
    return "".join(output.text for output in result.cells[0].outputs).strip()


def test_a_cell_is_in_a_network_of_its_own_and_so_is_what_it_starts() -> None:
    result = run_cell("import os\nprint(os.readlink('/proc/self/ns/net'))\n!readlink /proc/self/ns/net")
    if result.warnings:
        pytest.skip(result.warnings[0])
    own, started = text_of(result).split()
    assert own == started != str(Path("/proc/self/ns/net").readlink())


def test_a_cell_has_a_folder_for_temporary_files_in_which_no_other_leaves_any() -> None:
    run_cell("import tempfile\nprint(tempfile.mkdtemp())")
    assert run_cell("import os, tempfile\nprint(os.listdir(tempfile.gettempdir()))").cells[0].outputs[0].text == "[]\n"


def test_processes_of_a_job_are_in_a_network_of_their_own() -> None:
    with contextlib.ExitStack() as stack:
        process = MeasureProcess()
        stack.callback(process.end)
        process.start_ahead()
        until = time.monotonic() + 30
        while not (found := measuring()):
            assert time.monotonic() < until
            time.sleep(0.05)
        if (process.folder / "network").exists():
            pytest.skip((process.folder / "network").read_text())
        assert Path(f"/proc/{found[0].pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


def measuring() -> list[psutil.Process]:
    """The processes of a measurement that run; those that end meanwhile are left out."""
    found = list[psutil.Process]()
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found += [one] if one.cmdline()[1:3] == ["-m", "sitegen.measure"] else []
    return found


def test_a_run_says_once_that_the_network_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "open.py").write_text(WITHOUT)
    monkeypatch.setattr(measure_process, "CONFINEMENT", tmp_path / "open.py")
    first = run_cell("print(1)")
    assert first.warnings == ("code of the site can reach the network",)
    second = JobResult(JOB_SCHEMA, "axpy@64:float32", "kernel", warnings=first.warnings)
    assert list(notes([first, second])) == ["posts/p and 1 further job: code of the site can reach the network"]
