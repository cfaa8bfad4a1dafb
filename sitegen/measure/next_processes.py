"""Processes of later generations: started and prepared while the first generation is checked, or between generations.

The processes of generations 2 and 3 are prepared while nothing is timed.  Their first calls wait until the first
generation has compiled everything, and then find the compiled code.  Where the GPU is too small for so many CUDA
contexts, and when more generations are needed, further processes start between generations, two generations at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from threading import Event
from typing import Any

from sitegen.measure.evaluation import PendingEvaluation
from sitegen.measure.process import Child
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import MakeFirstCalls, Prepare, Request
from sitegen.measure.rounds import GENERATIONS, MORE_GENERATIONS
from sitegen.measure.steps import OnEnd, end_evaluation, end_processes, run_side_by_side
from sitegen.measure.workload import count_that_fits, least_bytes
from sitegen.measure.workspace import PREPARE_S, Workspace
from sitegen.model.job import KernelJob
from sitegen.model.record import Role

LATE_CALL_SHARE = 0.15
"""Share of the GPU's memory that first calls may take together while other processes are checked."""
CONTEXT_SHARE, CONTEXT_BYTES = 0.25, 700 << 20
"""Share of the GPU's memory that the CUDA contexts of all living processes may take, and the bytes of one context on an
H200 with torch."""


@contextmanager
def prepare_next_generations(
    job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace
) -> Iterator[Event]:
    """Prepare the processes of the next generations while the block runs; afterwards all are ready or known to fail.

    The block sets the event when the first generation has compiled everything.
    """
    compiled = Event()
    if not workspace.gpu:
        yield compiled
        return
    with ThreadPoolExecutor(1) as pool:
        ready = pool.submit(_prepare, job, evaluations, workspace, compiled)
        try:
            yield compiled
        except BaseException:
            end_processes(evaluations)
            raise
        finally:
            compiled.set()
        with workspace.timed("next generations"):
            ready.result()
    for pending in evaluations:
        if pending.running and pending.later_failure:
            pending.end(pending.later_failure)


def add_generations(
    job: KernelJob, evaluations: Iterable[PendingEvaluation], workspace: Workspace, generation: int
) -> None:
    """Start and prepare the processes of a generation and of the one after it, while nothing is timed."""
    with workspace.timed("more generations"):
        _start(evaluations, workspace, range(generation, generation + MORE_GENERATIONS))
        run_side_by_side(evaluations, workspace, _prepare_next_children)
        _make_first_calls(job, evaluations, workspace)


def _prepare(job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace, compiled: Event) -> None:
    """Start and prepare the next generations.  Failures are kept apart, since the first process's own says more."""

    def keep(pending: PendingEvaluation, why: EvaluationEnded) -> None:
        pending.later_failure = why

    contexts = GENERATIONS * len(evaluations) * CONTEXT_BYTES
    last = GENERATIONS if contexts <= CONTEXT_SHARE * workspace.memory_bytes else 2
    _start(evaluations, workspace, range(2, last + 1))
    run_side_by_side(evaluations, workspace, _prepare_next_children, on_end=keep)
    compiled.wait()
    _make_first_calls(job, [e for e in evaluations if e.later_failure is None], workspace, keep)


def _start(evaluations: Iterable[PendingEvaluation], workspace: Workspace, numbers: Iterable[int]) -> None:
    """Start a process of each generation for every evaluation that is still running."""
    for number, pending in product(numbers, [e for e in evaluations if e.running]):
        pending.next_children.append(workspace.start(pending.role, pending.name, generation=number))


def _prepare_next_children(pending: PendingEvaluation) -> None:
    _ask_all(pending.next_children, Prepare())


def _make_first_calls(
    job: KernelJob, evaluations: Iterable[PendingEvaluation], workspace: Workspace, on_end: OnEnd = end_evaluation
) -> None:
    """Make the first call of every next process at the workload, as many at once as fit into memory."""
    called = [e for e in evaluations if e.role is not Role.PROBE]
    most = max((len(e.next_children) for e in called), default=1)
    size = most * sum(least_bytes(job))
    at_once = count_that_fits(LATE_CALL_SHARE, workspace.memory_bytes, size, most=max(1, len(called)))
    request = MakeFirstCalls((job.workload.dims,))
    run_side_by_side(called, workspace, lambda e: _ask_all(e.next_children, request), at_once, on_end)


def _ask_all(children: Sequence[Child], request: Request[Any]) -> None:
    """Send a request to all children side by side.  Raises the first EvaluationEnded."""
    with ThreadPoolExecutor(max(1, len(children))) as pool:
        list(pool.map(lambda child: child.ask(request, PREPARE_S), children))
