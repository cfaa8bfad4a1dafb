"""Other users of the machine on which `sitegen run` works: none of them can send code to it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sitegen.execute.bundle import write_bundle
from sitegen.model.job import Key, NotebookCell, NotebookJob

ROOT = Path(__file__).parents[2]
CELL = "import os, time\nopen(os.environ['SITEGEN_TEST'] + '/begun', 'w').close()\ntime.sleep(120)"
SUBMIT = """
import sys
import tempfile
from distributed import Client
address, path = sys.argv[1:]
Client(address, timeout=5).run_on_scheduler(lambda: open(path, "w").close())
"""
"""The function that another user sends: it runs in the process of a Dask scheduler."""


@pytest.fixture
def short_tmp() -> Iterator[Path]:
    """A temporary folder whose path is short enough for a socket; pytest's own is too long in a worker."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def run(tmp_path: Path, short_tmp: Path) -> Iterator[psutil.Process]:
    """Start `sitegen run --bundle` with a notebook whose cell sleeps."""
    bundle, result = tmp_path / "bundle.zip", tmp_path / "result.zip"
    cell = NotebookCell("sleeps", CELL, Key("k"), timeout_s=200.0)
    write_bundle([NotebookJob("posts/p", "p", (cell,), {})], "c", bundle)
    # `run` asks for torch, which a notebook does not need
    code = "from sitegen.execute.bundle import run_bundle; import sys, pathlib"
    code += "\nif __name__ == '__main__': run_bundle(*map(pathlib.Path, sys.argv[1:]))"
    (tmp_path / "run.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(short_tmp), "SITEGEN_TEST": str(short_tmp)}
    words = [sys.executable, str(tmp_path / "run.py"), str(bundle), str(result)]
    process = psutil.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (short_tmp / "begun").exists():
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.05)
        yield process
    finally:
        everything = process.children(recursive=True)
        process.kill()
        process.wait()
        psutil.wait_procs(everything, timeout=20)


def listening(run: psutil.Process) -> set[str]:
    """Return the addresses at which a run and all its processes wait for connections from the network."""
    processes = [run, *run.children(recursive=True)]
    assert len(processes) > 1
    connections = [one for process in processes for one in process.net_connections("inet")]
    return {f"{one.laddr.ip}:{one.laddr.port}" for one in connections if one.status == psutil.CONN_LISTEN}


def test_another_process_cannot_submit_code_to_a_run(run: psutil.Process, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    for address in listening(run):
        words = [sys.executable, "-c", SUBMIT, f"tcp://{address}", str(marker)]
        with contextlib.suppress(subprocess.TimeoutExpired):  # not everything that listens is a scheduler
            subprocess.run(words, capture_output=True, cwd=tmp_path, timeout=8, check=False)
    assert not marker.exists()


def test_nothing_but_the_kernel_of_a_notebook_listens_at_a_port(run: psutil.Process) -> None:
    """ipykernel listens at one port for what forked processes print, and passes on no message without its secret."""
    kernels = [one for one in run.children(recursive=True) if "ipykernel_launcher" in one.cmdline()]
    ports = [one for kernel in kernels for one in kernel.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert kernels and len(ports) == len(listening(run)) <= 1


def test_sockets_of_a_notebook_are_in_a_folder_that_only_its_user_can_enter(run: psutil.Process) -> None:
    """A test that runs as root can enter each folder, so it examines the permissions."""
    processes = [run, *run.children(recursive=True)]
    paths = {one.laddr for process in processes for one in process.net_connections("unix") if one.laddr}
    sockets = [Path(path) for path in paths if not path.startswith(("\0", "@"))]
    kernels = [path for path in sockets if "kernel" in path.name]
    assert kernels
    assert all(any(parent.stat().st_mode & 0o077 == 0 for parent in path.parents) for path in kernels)
