"""A kernel job on a machine without a GPU: every implementation is compiled all the same, for the author to look at.

Each in a process of its own, in which Triton compiles instead of interpreting.  What comes of it is never stored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sitegen.measure.contestant import Contestant
from sitegen.measure.process import end_group, spawn
from sitegen.measure.stage import PREPARE_S, Stage
from sitegen.model.kernel import Status

ARCH = "sm_90a"
"""For whom: Hopper, with the instructions that only it has."""
_COMPILER = {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""}


def compile_without_gpu(contestants: list[Contestant], stage: Stage) -> None:
    """Side by side; nothing where there is a GPU.  What the compiler refuses is a failure; what cannot be compiled here
    only says why.
    """
    if stage.gpu:
        return
    ours = [c for c in contestants if c.implementation and c.status is not Status.UNSUPPORTED]
    with stage.timed("compile"), ThreadPoolExecutor(os.cpu_count()) as pool:
        for contestant, found in zip(ours, pool.map(lambda c: _compiled(c, stage), ours), strict=True):
            _note(contestant, found)


def _note(contestant: Contestant, found: dict[str, Any]) -> None:
    if "compilation" in found:
        contestant.collected = found
    elif contestant.status in (None, Status.NOT_RUN) and found["status"] == Status.COMPILE_ERROR:
        contestant.status, contestant.message = Status.COMPILE_ERROR, found["message"]
    elif contestant.status in (None, Status.NOT_RUN):
        why = f"not compiled for {ARCH}: {found['message']}"
        contestant.message = "; ".join(filter(None, [contestant.message, why]))


def _compiled(contestant: Contestant, stage: Stage) -> dict[str, Any]:
    """The answer of a process; its end without one is a reason, too."""
    result, log = (stage.folder / f"compiled-{contestant.name}.{suffix}" for suffix in ("json", "log"))
    arguments = [stage.job_file, stage.folder / "site", contestant.name, ARCH, result]
    process = spawn([sys.executable, "-m", "sitegen.measure.cross", *map(str, arguments)], stage.folder, log, _COMPILER)
    try:
        process.wait(PREPARE_S * stage.slower)
    except subprocess.TimeoutExpired:
        return {"status": Status.TIMEOUT, "message": f"the compiler took more than {PREPARE_S * stage.slower:.0f} s"}
    finally:
        end_group(process)
    if not result.exists():
        words = log.read_text(errors="replace").strip().splitlines()[-1:]
        return {"status": Status.RUNTIME_ERROR, "message": "; ".join(["the compiler's process died", *words])}
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found
