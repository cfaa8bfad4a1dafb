"""Evaluations that passed their checks → `Timings`, taken by generations of processes, one after the other.

Each generation makes its sets of buffers and its graphs when it starts, after every process of the generation before
has ended: only one generation holds sets in memory at a time.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sitegen.measure.evaluation import PendingEvaluation, TimingPlan
from sitegen.measure.extra_generations import needs_more_generations
from sitegen.measure.memory_plan import MemoryPlan
from sitegen.measure.next_processes import add_generations
from sitegen.measure.requests import Plan, Recheck, Resume, TakeTurn, TimeEmptyKernel, UseGraph, Warm
from sitegen.measure.rounds import (
    GRAPH_US,
    EmptyKernel,
    RoundRules,
    Timings,
    TurnKind,
    TurnResult,
    run_rounds,
    samples_per_turn,
)
from sitegen.measure.steps import end_children, run_side_by_side, run_step
from sitegen.measure.workload import is_matrix_kernel, least_bytes, set_count
from sitegen.measure.workspace import EVALUATION_S, Workspace
from sitegen.model.gpu import gpu_id
from sitegen.model.job import ROUNDS_FILE, KernelJob
from sitegen.model.record import Role

WARM_S = 0.2
"""Seconds that the baseline runs before the first round of a generation, so that all start from the same clock."""
GRAPH_BELOW_US = GRAPH_US
"""Device time of a call below which the job is timed inside CUDA graphs: a longer call would be alone in its graph,
which takes as long as the call between two events."""
MATRIX_GRAPH_BELOW_US = 20.0
"""The same for a matrix kernel, whose bursts are timed by events."""


def time_all(
    job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace, memory: MemoryPlan
) -> Timings:
    """Take the rounds of every evaluation that is still running; no rounds when no implementation is."""
    if not workspace.gpu or not any(e.running and e.role is Role.IMPLEMENTATION for e in evaluations):
        return Timings()
    short = _plan_all(job, evaluations, workspace, memory)
    empty_kernel = _time_empty_kernel(evaluations, workspace)
    running = {e.name: e for e in evaluations if e.running}
    rules = _rules(job, running, evaluations, short)
    plans = {name: e.timing for name, e in running.items()}
    samples = samples_per_turn({n: p.sample_us for n, p in plans.items()}, {n: p.graph_calls for n, p in plans.items()})
    processes = JobProcesses(job, workspace, memory, evaluations, running, rules, samples)
    processes.warm()
    timings = run_rounds(list(running), rules, processes)
    timings.empty_kernel = empty_kernel
    processes.recheck()
    for name in (name for name, e in running.items() if not e.running):
        timings.drop(name)
    timings.compared_with = tuple(e.name for e in evaluations if e.role is not Role.IMPLEMENTATION)
    return timings


def first_baseline(evaluations: Sequence[PendingEvaluation], timings: Timings | None) -> str | None:
    """Return the first baseline that passed and, when `timings` are given, was timed: ratios are taken to it."""
    names = [e.name for e in evaluations if e.role is Role.BASELINE and e.passed]
    return next((name for name in names if timings is None or name in timings.turns), None)


@dataclass(frozen=True, slots=True)
class JobProcesses:
    """The processes that take the turns of a job (`rounds.Processes`)."""

    job: KernelJob
    workspace: Workspace
    memory: MemoryPlan
    evaluations: Sequence[PendingEvaluation]
    running: Mapping[str, PendingEvaluation]
    """Evaluations that take part in the first round, by name."""
    rules: RoundRules
    samples: Mapping[str, int]
    """Samples of a turn, by name."""
    turns: Counter[str] = field(default_factory=Counter)
    """Turns so far, by name."""

    def turn(self, name: str, kind: TurnKind, recheck: bool) -> TurnResult | None:
        """Take one turn, and check its last output when `recheck`.  Return None when that evaluation has failed."""
        pending, results = self.running[name], list[TurnResult]()
        if not pending.running:
            return None
        with self.workspace.timed("time"):
            run_step(pending, self.workspace, lambda e: results.append(self._take(e, kind, keep=recheck)))
        self._count(name)
        if recheck and pending.running and not pending.timing.resident:
            self._recheck([pending])
        return results[0] if pending.running else None

    def recheck(self) -> None:
        """Check the last outputs of a generation that are still in memory, side by side, once all are timed."""
        self._recheck([e for e in self.running.values() if e.running and e.timing.resident])

    def needs_more(self, timings: Timings) -> bool:
        """Return whether two more generations must time the job, given the record of this model of GPU."""
        gpu = gpu_id(self.workspace.environment.gpu) if self.workspace.environment else ""
        previous = {name: one for name, one in self.job.previous.items() if one.gpu == gpu}
        return needs_more_generations(timings, self.rules.judged, previous, self.job.kernel.baselines)

    def start_generation(self, number: int) -> None:
        """End the present generation and continue with the next one, started now when it does not exist yet."""
        self.recheck()
        with self.workspace.timed("take over"):
            unused = [child for e in self.evaluations if not e.running for child in e.next_children]
            end_children([*unused, *(e.child for e in self.evaluations if e.child is not None)])
        if not any(e.next_children for e in self.running.values()):
            add_generations(self.job, list(self.running.values()), self.workspace, self.memory, number)
        for pending in self.running.values():
            pending.use_next_child()
        with self.workspace.timed("plan"):
            run_side_by_side(self.running.values(), self.workspace, self._resume)
        self.warm()

    def warm(self) -> None:
        """Run the baseline until the clock is up; not before bursts, which begin with idleness."""
        if self.rules.baseline and self.running[self.rules.baseline].running and not self.rules.matrix:
            with self.workspace.timed("plan"):
                run_step(self.running[self.rules.baseline], self.workspace, _warm)

    def _count(self, name: str) -> None:
        """Tell the worker after the first turn of each round how many rounds the job has begun."""
        self.turns[name] += 1
        rounds, rest = divmod(self.turns[name] - 1, len(self.rules.kinds))
        if rest == 0 and max(self.turns.values()) == self.turns[name]:
            self.workspace.job_file.with_name(ROUNDS_FILE).write_text(str(rounds + 1), encoding="ascii")

    def _take(self, pending: PendingEvaluation, kind: TurnKind, keep: bool) -> TurnResult:
        return pending.process.ask_within_budget(TakeTurn(kind, self.samples[pending.name], keep), EVALUATION_S)

    def _recheck(self, evaluations: Sequence[PendingEvaluation]) -> None:
        with self.workspace.timed("recheck"):
            run_side_by_side(evaluations, self.workspace, _recheck, self.memory.rechecks)

    def _resume(self, pending: PendingEvaluation) -> None:
        plan = pending.timing
        request = Resume(
            dims=self.job.workload.dims,
            sets=plan.sets,
            resident=plan.resident,
            estimate_us=plan.estimate_us,
            graph_calls=plan.graph_calls,
            chosen=plan.chosen,
        )
        pending.process.ask_within_budget(request, EVALUATION_S)


def _plan_all(
    job: KernelJob, evaluations: Sequence[PendingEvaluation], workspace: Workspace, memory: MemoryPlan
) -> bool:
    """Plan how each evaluation is timed, one after the other; return whether calls are short and timed in graphs."""
    with workspace.timed("plan"):
        run_side_by_side(evaluations, workspace, lambda e: _plan(e, job, workspace, memory.set_room), at_once=1)
        short = _calls_are_short(job, evaluations)
        if short:
            run_side_by_side(evaluations, workspace, _use_graph, at_once=1)
    return short


def _rules(
    job: KernelJob,
    running: Mapping[str, PendingEvaluation],
    evaluations: Sequence[PendingEvaluation],
    short: bool,
) -> RoundRules:
    return RoundRules(
        judged=tuple(name for name, e in running.items() if e.role is Role.IMPLEMENTATION),
        baseline=first_baseline(evaluations, None),
        seed=_seed(job.id),
        matrix=is_matrix_kernel(job) and not short,
    )


def _plan(pending: PendingEvaluation, job: KernelJob, workspace: Workspace, room: int) -> None:
    """Plan the sets of buffers that fit into this process's part of the memory, and estimate the time of a call."""
    reads, writes = least_bytes(job)
    size = reads if pending.name == "read" and pending.role is Role.PROBE else reads + writes
    l2_bytes = workspace.environment.l2_bytes if workspace.environment else 0
    sets = set_count(size, l2_bytes, room)
    resident = sets * (reads + writes) <= room
    planned = pending.process.ask_within_budget(Plan(job.workload.dims, sets, resident), EVALUATION_S)
    pending.plan = TimingPlan(sets, resident, planned.estimate_us, planned.chosen)


def _calls_are_short(job: KernelJob, evaluations: Sequence[PendingEvaluation]) -> bool:
    """Return whether all are timed in graphs.

    All evaluations of a job are timed in one way, because events add microseconds that a graph does not add.
    """
    below_us = MATRIX_GRAPH_BELOW_US if is_matrix_kernel(job) else GRAPH_BELOW_US
    called = [e for e in evaluations if e.running and e.role is not Role.PROBE]
    return any(e.timing.estimate_us < below_us for e in called)


def _time_empty_kernel(evaluations: Sequence[PendingEvaluation], workspace: Workspace) -> EmptyKernel | None:
    """Time a kernel that does nothing, in the first process that still runs."""
    found = list[EmptyKernel | None]()
    first = next((e for e in evaluations if e.running), None)
    if first is not None:
        ask = TimeEmptyKernel()
        with workspace.timed("plan"):
            run_step(first, workspace, lambda e: found.append(e.process.ask(ask, EVALUATION_S).times))
    return found[0] if found else None


def _use_graph(pending: PendingEvaluation) -> None:
    use = pending.process.ask_within_budget(UseGraph(), EVALUATION_S)
    pending.plan = replace(
        pending.timing,
        graph=use.graph,
        graph_calls=use.graph_calls,
        launch_bound=use.launch_bound,
        estimate_us=use.estimate_us,
    )


def _recheck(pending: PendingEvaluation) -> None:
    pending.process.ask_within_budget(Recheck(), EVALUATION_S)


def _warm(pending: PendingEvaluation) -> None:
    pending.process.ask(Warm(WARM_S), EVALUATION_S)


def _seed(text: str) -> int:
    """Return the seed of the order of rounds: the same job has the same order."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
