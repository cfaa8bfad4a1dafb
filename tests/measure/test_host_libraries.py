"""Shared libraries of files with host code: another process or thread never finds one that nvcc has not finished."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sitegen.measure.compile import CompileError, compile_host

SLOW = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf half > "$2"
while [ ! -e "$(dirname "$2")/go_on" ]; do sleep 0.01; done
printf ' and the other half' >> "$2"
"""
BROKEN = "#!/bin/sh\necho 'error: no such file' >&2\nexit 1\n"


def put_nvcc(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = folder / "bin" / "nvcc"
    compiler.parent.mkdir()
    compiler.write_text(script)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}{os.pathsep}{os.environ['PATH']}")


def build(folder: Path) -> str:
    (folder / "two_passes.cu").touch()
    return compile_host(folder / "two_passes.cu", folder / "_two_passes_float32.so", "sm_90a", (), [])


def test_a_library_appears_only_when_nvcc_has_written_all_of_it(tmp_path, monkeypatch):
    put_nvcc(tmp_path, SLOW, monkeypatch)
    library = tmp_path / "_two_passes_float32.so"
    building = threading.Thread(target=build, args=(tmp_path,), daemon=True)
    building.start()
    while not [one for one in tmp_path.iterdir() if one.is_file() and one.read_text() == "half"]:
        assert building.is_alive()
    assert not library.exists()
    (tmp_path / "go_on").touch()
    building.join()
    assert library.read_text() == "half and the other half"


def test_two_threads_that_build_the_same_library_both_find_it(tmp_path, monkeypatch):
    put_nvcc(tmp_path, SLOW, monkeypatch)
    with ThreadPoolExecutor(2) as threads:
        building = [threads.submit(build, tmp_path) for _ in "ab"]
        until = time.monotonic() + 10
        while (
            time.monotonic() < until
            and sum(one.is_file() and one.read_text() == "half" for one in tmp_path.iterdir()) < 2
        ):
            pass
        (tmp_path / "go_on").touch()
        assert len({one.result() for one in building}) == 1
    assert (tmp_path / "_two_passes_float32.so").read_text() == "half and the other half"


def test_a_failed_compilation_leaves_no_library(tmp_path, monkeypatch):
    put_nvcc(tmp_path, BROKEN, monkeypatch)
    with pytest.raises(CompileError, match="no such file"):
        build(tmp_path)
    assert not [one for one in tmp_path.iterdir() if one.suffix == ".so"]
