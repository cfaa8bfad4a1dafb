"""One step of a job, run for several evaluations side by side; a failure ends its evaluation.

After a failure that may break the GPU, a fresh process checks the GPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sitegen.measure.evaluation import PendingEvaluation
from sitegen.measure.process import Child
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.workspace import Workspace, check_health
from sitegen.model.kernel import Status

_MAY_BREAK_THE_GPU = (Status.RUNTIME_ERROR, Status.TIMEOUT)

Step = Callable[[PendingEvaluation], Any]
OnEnd = Callable[[PendingEvaluation, EvaluationEnded], None]


def end_evaluation(pending: PendingEvaluation, why: EvaluationEnded) -> None:
    """Record the end in the evaluation."""
    pending.end(why)


def run_side_by_side(
    evaluations: Iterable[PendingEvaluation],
    workspace: Workspace,
    step: Step,
    at_once: int | None = None,
    on_end: OnEnd = end_evaluation,
) -> None:
    """Run a step for every evaluation that is still running, at most `at_once` at a time (default: one per CPU).

    `on_end` gets each EvaluationEnded that a step raises; nothing is raised.
    """
    running = [pending for pending in evaluations if pending.running]
    with ThreadPoolExecutor(max(1, min(len(running), at_once or os.cpu_count() or 1))) as pool:
        list(pool.map(lambda pending: run_step(pending, workspace, step, on_end), running))


def run_in_turn(evaluations: Iterable[PendingEvaluation], workspace: Workspace, steps: Sequence[Step]) -> None:
    """Run the steps one after the other for each evaluation, and the evaluations side by side, one per CPU.

    No evaluation waits for the slowest compiler of another one.  A failure ends the evaluation.
    """

    def run_all(pending: PendingEvaluation) -> None:
        for step in steps:
            if pending.running:
                run_step(pending, workspace, step)

    running = [pending for pending in evaluations if pending.running]
    with ThreadPoolExecutor(max(1, min(len(running), os.cpu_count() or 1))) as pool:
        list(pool.map(run_all, running))


def run_step(pending: PendingEvaluation, workspace: Workspace, step: Step, on_end: OnEnd = end_evaluation) -> None:
    """Run a step; `on_end` gets its EvaluationEnded.  After a failure that may break the GPU, the GPU is checked."""
    if workspace.unhealthy:
        on_end(pending, EvaluationEnded(Status.NOT_RUN, workspace.unhealthy))
        return
    try:
        step(pending)
    except EvaluationEnded as why:
        on_end(pending, why)
        if workspace.gpu and why.status in _MAY_BREAK_THE_GPU:
            check_health(workspace, pending.name)


def end_processes(evaluations: Iterable[PendingEvaluation]) -> None:
    """End every process of the evaluations."""
    pairs = [(pending.child, *pending.next_children) for pending in evaluations]
    end_children([child for several in pairs for child in several if child is not None])


def end_children(children: Sequence[Child]) -> None:
    """End the children side by side, because it takes a while until the memory of the GPU is free again."""
    with ThreadPoolExecutor(max(1, len(children))) as pool:
        list(pool.map(lambda child: child.end(), children))
