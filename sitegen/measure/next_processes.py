"""Processes of later generations: started and prepared while the first generation is checked, or between generations.

The processes of generations 2 and 3 are prepared while nothing is timed.  Their first calls wait until the first
generation has compiled everything, and then find the compiled code.  Where the GPU is too small for so many CUDA
contexts, and when more generations are needed, further processes start between generations, as many generations at a
time as the plan of the memory allows (memory_plan.py).  Where jobs run on several GPUs of the host, the processes first
create their contexts in a turn of this job (driver_turns.py), and then prepare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

from sitegen.measure.driver_turns import shares_driver, turn_at_driver
from sitegen.measure.evaluation import PendingEvaluation
from sitegen.measure.memory_plan import MemoryPlan
from sitegen.measure.process import Child
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import MakeFirstCalls, Prepare, Request, Start
from sitegen.measure.room import Room
from sitegen.measure.rounds import GENERATIONS, MORE_GENERATIONS
from sitegen.measure.steps import end_processes, run_side_by_side
from sitegen.measure.workspace import PREPARE_S, Workspace
from sitegen.model.job import KernelJob
from sitegen.model.record import Role


@contextmanager
def prepare_next_generations(
    job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace, memory: MemoryPlan, room: Room
) -> Iterator[None]:
    """Prepare the processes of the next generations while the block runs; afterwards all are ready or known to fail.

    The next processes of an evaluation make their first call as soon as the first one has compiled everything.
    """
    if not workspace.gpu or memory.generations == 1:
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        ready = pool.submit(_prepare, job, evaluations, workspace, memory, room)
        try:
            yield
        except BaseException:
            end_processes(evaluations)
            raise
        finally:
            for pending in evaluations:
                pending.compiled.set()
        with workspace.timed("next generations"):
            ready.result()
    for pending in evaluations:
        if pending.running and pending.later_failure:
            pending.end(pending.later_failure)


def add_generations(
    job: KernelJob,
    evaluations: Iterable[PendingEvaluation],
    workspace: Workspace,
    memory: MemoryPlan,
    generation: int,
) -> None:
    """Start and prepare the processes of a generation, and of those after it for which there is room, while nothing is
    timed."""
    last = GENERATIONS if generation <= GENERATIONS else generation + MORE_GENERATIONS - 1
    room = Room(memory.free)
    with workspace.timed("more generations"):
        _start(evaluations, workspace, range(generation, min(last + 1, generation + memory.generations)))
        run_side_by_side(evaluations, workspace, lambda e: _prepare_next_children(e, job, memory, room))


def _prepare(
    job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace, memory: MemoryPlan, room: Room
) -> None:
    """Start and prepare the next generations.  Failures are kept apart, since the first process's own says more."""

    def keep(pending: PendingEvaluation, why: EvaluationEnded) -> None:
        pending.later_failure = why

    _start(evaluations, workspace, range(2, memory.generations + 1))
    all_at_once = partial(run_side_by_side, workspace=workspace, at_once=len(evaluations), on_end=keep)
    if shares_driver():
        with turn_at_driver():
            all_at_once(evaluations, step=lambda e: room.do_outside(lambda: _ask_all(e.next_children, Start())))
    able = [pending for pending in evaluations if pending.later_failure is None]
    all_at_once(able, step=lambda e: _prepare_next_children(e, job, memory, room))


def _start(evaluations: Iterable[PendingEvaluation], workspace: Workspace, numbers: Iterable[int]) -> None:
    """Start a process of each generation for every evaluation that is still running."""
    for number, pending in product(numbers, [e for e in evaluations if e.running]):
        pending.next_children.append(workspace.start(pending.role, pending.name, generation=number))


def _prepare_next_children(pending: PendingEvaluation, job: KernelJob, memory: MemoryPlan, room: Room) -> None:
    """Prepare the next processes of an evaluation, and make their first calls at the workload.

    Their contexts lie outside of the room that checks divide.  Several checks that take more than their parts may leave
    too little for a context, which is then made once no check is at work.
    """
    room.do_outside(lambda: _ask_all(pending.next_children, Prepare()))
    pending.compiled.wait()
    if pending.running and pending.role is not Role.PROBE:
        first_calls = partial(_ask_all, pending.next_children, MakeFirstCalls((job.workload.dims,)))
        room.do(len(pending.next_children) * memory.call, first_calls)


def _ask_all(children: Sequence[Child], request: Request[Any]) -> None:
    """Send a request to all children side by side.  Raises the first EvaluationEnded."""
    with ThreadPoolExecutor(max(1, len(children))) as pool:
        list(pool.map(lambda child: child.ask(request, PREPARE_S), children))
