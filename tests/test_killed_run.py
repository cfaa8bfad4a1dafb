"""`sitegen run` that is killed at a random moment: nothing is lost or half written, and the next run does the rest.

The command, its worker, the guard and the storing are the real ones.  Only the measuring process is replaced: in its
place tests/attacks/gpu_machine.py answers, and a false nvidia-smi names a GPU.  `make soak` kills a hundred runs.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import runpy
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from sitegen.pipeline.in_memory import load
from sitegen.results.store import artefacts_of

ROOT = Path(__file__).parents[1]
MACHINE = ROOT / "tests" / "attacks" / "gpu_machine.py"
machine = SimpleNamespace(**runpy.run_path(str(MACHINE)))
KERNELS = ("double", "triple", "fourfold", "fivefold")
CUSTOM = f"""
import sys

words = sys.orig_argv
if "sitegen.measure" in words and "sitegen.execute.guard" not in words:
    import json, os, runpy, time
    from pathlib import Path

    job, result = map(Path, words[-2:])
    while not job.exists():
        time.sleep(0.01)
    spec = json.loads(job.read_text())
    machine = runpy.run_path({str(MACHINE)!r})
    with open(os.environ["SITEGEN_TEST_LOG"], "a") as log:
        log.write(spec["id"] + chr(10))
    time.sleep(0.2)
    part = result.with_suffix(".part")
    part.write_text(json.dumps(machine["answered"](spec, machine["TIMES"])))
    part.replace(result)
    os._exit(0)
elif "run" in words:
    from sitegen.execute import bundle

    bundle.SAVE_EVERY_S = 0.0  # otherwise a short run would store once, at its end
"""
"""The module that Python imports before every program."""


@dataclass
class Lab:
    """A site, and the variables with which its runs find the false GPU."""

    root: Path
    log: Path
    environment: dict[str, str]

    def start(self, *words: str) -> psutil.Popen:
        command = [sys.executable, "-m", "sitegen", *words]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return psutil.Popen(command, cwd=self.root, env=self.environment, start_new_session=True, **quiet)

    def run(self) -> tuple[set[str], float]:
        """Run what is due; return the jobs that ran, and the seconds."""
        self.log.write_text("")
        began = time.monotonic()
        process = self.start("run")
        said = process.communicate(timeout=120)[0].decode()
        assert process.returncode == 0, said
        return set(self.log.read_text().split()), time.monotonic() - began

    def kill_run(self, seconds: float) -> None:
        """Kill a run after so many seconds, and wait until all that it started has ended."""
        process = self.start("run")
        time.sleep(seconds)
        self._kill(process)

    def kill_run_at(self, job: int) -> None:
        """Kill a run when it has begun so many jobs, and wait until all that it started has ended."""
        self.log.write_text("")
        process = self.start("run")
        while len(self.log.read_text().split()) < job and process.is_running():
            time.sleep(0.01)
        self._kill(process)

    def _kill(self, process: psutil.Popen) -> None:
        below = process.children(recursive=True) if process.is_running() else []
        process.kill()
        process.communicate()
        assert not psutil.wait_procs(below, timeout=30)[1]

    def due(self) -> set[str]:
        """Return the kernels and posts of which something is not recorded."""
        process = self.start("status", "--json")
        states = json.loads(process.communicate(timeout=60)[0])
        return {row["name"] for row in states["nvidia-h200"] if row["state"] != "fresh"}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    custom, programs, root = tmp_path / "custom", tmp_path / "programs", tmp_path / "site"
    for folder in (custom / "torch", programs):
        folder.mkdir(parents=True)
    (custom / "torch" / "__init__.py").write_text("")  # `run` asks whether it is there
    (custom / "sitecustomize.py").write_text(CUSTOM)
    (programs / "nvidia-smi").write_text('#!/bin/sh\necho "0, GPU-1, NVIDIA H200, 00000000:1B:00.0, 143771 MiB"\n')
    (programs / "nvidia-smi").chmod(0o755)
    machine.make_site(root)
    for name in KERNELS[1:]:
        for path, text in machine.FILES.items():
            if path.startswith("kernels/"):
                file = root / path.replace("double", name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text.replace("double", name))
    environment = {
        **os.environ,
        "PYTHONPATH": f"{custom}{os.pathsep}{ROOT}",
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SITEGEN_TEST_LOG": str(tmp_path / "log"),
    }
    return Lab(root, tmp_path / "log", environment)


def torn_files(root: Path) -> list[str]:
    """Return the files of records that are not whole, and the artefacts that a record names and that are not there."""
    loaded = load(root, everything=True)
    torn = [str(one.message) for one in loaded.diagnostics]
    for record in loaded.records.kernels.values():
        folder = root / "kernels" / record.kernel / "results" / "artefacts"
        torn += [name for name in artefacts_of(record) if not is_whole(folder / f"{name}.gz")]
    return torn


def is_whole(artefact: Path) -> bool:
    if not artefact.exists():
        return False
    content = gzip.decompress(artefact.read_bytes())
    return hashlib.sha256(content).hexdigest() == artefact.name.partition(".")[0]


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_run_loses_nothing_and_the_next_does_the_rest(kills: int, lab: Lab, tmp_path: Path) -> None:
    start = tmp_path / "start"
    shutil.copytree(lab.root, start)
    everything, seconds = lab.run()
    assert len(everything) == 3 * len(KERNELS) + 1 and not lab.due()
    chance, partly = random.Random(kills), 0
    for number in range(kills):
        shutil.rmtree(lab.root)
        shutil.copytree(start, lab.root)
        if number:
            lab.kill_run(seconds * chance.random())
        else:
            lab.kill_run_at(len(KERNELS))  # ceilings and evaluations, which take longest, come first: a part is stored
        assert torn_files(lab.root) == []
        due = lab.due()
        again = lab.run()[0] if due else set[str]()
        assert kernels_of(again, "@") == kernels_of(due, "/right@")  # what was stored is not measured again
        assert not lab.due() and torn_files(lab.root) == []
        partly += 0 < len(again) < len(everything)
    print(
        f"run | SIGKILL at a random moment | {kills} | 0 | 0 | {partly} ended with a part stored", file=sys.__stdout__
    )
    assert partly


def kernels_of(names: set[str], mark: str) -> set[str]:
    """Return the kernels of the names that have a mark behind the kernel."""
    return {name.partition(mark)[0] for name in names if mark in name}
