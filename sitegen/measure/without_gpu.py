"""A kernel job on a machine without a GPU → compiled code of every implementation, for the author to look at.

Each implementation is compiled in a process of its own (cross_compile.py).  The result is never stored.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sitegen.measure.evaluation import PendingEvaluation
from sitegen.measure.process import end_group
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import CollectedArtefacts
from sitegen.measure.workspace import PREPARE_S, Workspace
from sitegen.model.job import NOT_AGAIN
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain

ARCH = "sm_90a"
"""The architecture that is compiled for: Hopper, with the instructions that only Hopper has."""


def compile_without_gpu(evaluations: Sequence[PendingEvaluation], workspace: Workspace) -> None:
    """Compile the implementations that did not fail, side by side; do nothing where there is a GPU.

    Code that the compiler refuses is a failure.  Code that cannot be compiled here only says why.
    """
    if workspace.gpu:
        return
    implementations = [e for e in evaluations if e.implementation and _is_worth_compiling(e)]
    with workspace.timed("compile"), ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda pending: _compiled(pending, workspace), implementations)
        for pending, answer in zip(implementations, answers, strict=True):
            _record(pending, answer)


def _is_worth_compiling(pending: PendingEvaluation) -> bool:
    """Return whether the code is shown: registers of a kernel that failed would be read as its figures."""
    failed = pending.status is not None and pending.status.failed
    return not (failed or pending.status is Status.UNSUPPORTED or pending.message.startswith(NOT_AGAIN))


def _record(pending: PendingEvaluation, answer: CollectedArtefacts | EvaluationEnded) -> None:
    if isinstance(answer, CollectedArtefacts):
        pending.collected = answer
    elif answer.status is Status.COMPILE_ERROR:
        pending.end(answer)
    else:
        why = f"not compiled for {ARCH}: {answer.message}"
        pending.message = "; ".join(filter(None, [pending.message, why]))


def _compiled(pending: PendingEvaluation, workspace: Workspace) -> CollectedArtefacts | EvaluationEnded:
    """Return the compiled code from a process of its own, or why there is none."""
    result, log = (workspace.folder / f"compiled-{pending.name}.{suffix}" for suffix in ("json", "log"))
    arguments = [workspace.job_file, workspace.folder / "site", pending.name, ARCH, result]
    process = workspace.forks.fork("cross_compile", [*map(str, arguments)], log)
    seconds = PREPARE_S * workspace.slower
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return EvaluationEnded(Status.TIMEOUT, f"the compiler took more than {seconds:.0f} s")
    finally:
        end_group(process)
    if not result.exists():
        words = log.read_text(errors="replace").strip().splitlines()[-1:]
        return EvaluationEnded(Status.RUNTIME_ERROR, "; ".join(["the compiler's process died", *words]))
    return _answer(json.loads(result.read_text(encoding="utf-8")))


def _answer(data: dict[str, Any]) -> CollectedArtefacts | EvaluationEnded:
    """Return what `sitegen.measure.cross_compile` wrote: compiled code, or why there is none."""
    if "compilation" in data:
        return from_plain(CollectedArtefacts, data)
    return EvaluationEnded.from_message(data)
