"""A job → its `JobResult`.  The parent: starts children, asks them in turn, never touches CUDA itself.

A kernel job: prepare all (compilers run side by side), check all, then time those that passed, in rounds,
with nothing else on the GPU.  A fault ends one child; the others go on, once a fresh process has shown
that the GPU still works.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sitegen.measure.contestant import Contestant, artefacts_of, evaluation_of
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Race, TurnResult, run_rounds, samples_per_turn
from sitegen.measure.sources import write_sources
from sitegen.measure.stage import (
    EVALUATION_S,
    PREPARE_S,
    Stage,
    child_of,
    end_all,
    guarded,
    read_environment,
    side_by_side,
)
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate
from sitegen.model.job import JOB_SCHEMA, CeilingsJob, JobResult, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Ceiling, Correctness, Environment, Rejection, Role

CEILINGS_S = 180.0
WARM_S = 0.2
"""The baseline runs so long before the first round, so that all start from the same clock."""
RESIDENT_SHARE, FIRST_CALL_SHARE = 0.5, 0.4
"""Of the GPU's memory: what all children's sets may take together, in rounds and in first calls."""
GRAPH_BELOW_US = 20.0
L2_ROTATION, MOST_SETS = 3, 4096
Shapes = Sequence[Mapping[str, int]]
PROBES = ("copy", "read")
"""The best copy and the best read of the workload's bytes, in the same rounds."""


def run_kernel_job(job: KernelJob, stage: Stage) -> JobResult:
    write_sources(stage.folder / "site", job.sources)
    contestants = _contestants(job, stage.gpu)
    race = Race()
    try:
        _prepare(contestants, stage, list(job.kernel.checks))
        _check_all(contestants, stage, list(job.kernel.checks))
        _check_workload(job, contestants, stage)
        race = _time_all(job, contestants, stage)
        _collect(contestants, stage, dict(job.workload.dims))
    finally:
        end_all(contestants)
    baseline = _first_baseline(contestants, race)
    return JobResult(
        schema=JOB_SCHEMA,
        id=job.id,
        kind=job.kind,
        environment=stage.environment,
        evaluations=tuple(evaluation_of(c, job, race, baseline) for c in contestants),
        artefacts=artefacts_of(contestants, race),
        seconds=stage.seconds,
        error=stage.unhealthy,
    )


def run_reject_job(job: RejectJob, stage: Stage) -> JobResult:
    write_sources(stage.folder / "site", job.sources)
    expected = {w.implementation.name: w.fails for w in job.kernel.wrong}
    wrong = [w.implementation for w in job.kernel.wrong]
    variants = [_contestant(i, job.kernel, job.dtype_of(i), stage.gpu) for i in wrong]
    try:
        _prepare(variants, stage, list(job.kernel.checks))
        _check_all(variants, stage, list(job.kernel.checks))
        _check_at_size(variants, stage, [min((dict(w.dims) for w in job.kernel.workloads), key=_size)])
    finally:
        end_all(variants)
    rejections = tuple(_rejection(v, expected[v.name], job) for v in variants)
    return JobResult(
        JOB_SCHEMA,
        job.id,
        job.kind,
        stage.environment,
        rejections=rejections,
        seconds=stage.seconds,
        error=stage.unhealthy,
    )


def run_ceilings_job(job: CeilingsJob, stage: Stage) -> JobResult:
    if not stage.gpu:
        return JobResult(JOB_SCHEMA, job.id, job.kind, error="no GPU")
    child = stage.start("ceilings", "ceilings")
    try:
        with stage.timed("start"):
            environment = from_plain(Environment, child.ask("environment", PREPARE_S))
        with stage.timed("ceilings"):
            ceilings = from_plain(Found, {"ceilings": child.ask("ceilings", CEILINGS_S)}).ceilings
    except Ended as why:
        return JobResult(JOB_SCHEMA, job.id, job.kind, seconds=stage.seconds, error=str(why))
    finally:
        child.end()
    return JobResult(JOB_SCHEMA, job.id, job.kind, environment, ceilings=ceilings, seconds=stage.seconds)


@dataclass(frozen=True, slots=True)
class Found:
    ceilings: tuple[Ceiling, ...]


def _contestants(job: KernelJob, gpu: bool) -> list[Contestant]:
    ours = [_contestant(i, job.kernel, job.dtype, gpu) for i in job.kernel.implementations]
    others = [Contestant(Role.BASELINE, name) for name in job.kernel.baselines]
    others += [Contestant(Role.PROBE, name) for name in PROBES]
    for contestant in others if not gpu else []:
        contestant.status, contestant.message = Status.NOT_RUN, "no GPU"
    return ours + others


def _contestant(implementation: Implementation, kernel: Kernel, dtype: str, gpu: bool) -> Contestant:
    made = Contestant(Role.IMPLEMENTATION, implementation.name, implementation)
    if dtype not in (implementation.dtypes or kernel.dtypes):
        made.status, made.message = Status.UNSUPPORTED, f"does not offer {dtype}"
    elif not gpu and implementation.language is not Language.TRITON:
        made.status, made.message = Status.NOT_RUN, "no GPU"
    return made


def _prepare(contestants: list[Contestant], stage: Stage, shapes: Shapes) -> None:
    """Starts a child each and compiles, side by side; first calls at small shapes too."""
    with stage.timed("prepare"):
        for contestant in contestants:
            if contestant.status is None:
                contestant.child = stage.start(contestant.role, contestant.name)
        with ThreadPoolExecutor(1) as pool:
            facts = pool.submit(read_environment, stage)
            side_by_side(contestants, stage, lambda c: _prepare_one(c, stage, shapes))
            facts.result()


def _prepare_one(contestant: Contestant, stage: Stage, shapes: Shapes) -> None:
    child = child_of(contestant)
    contestant.allocates = bool(child.ask("prepare", PREPARE_S * stage.slower)["allocates"])
    if stage.gpu and contestant.role is not Role.PROBE:
        child.ask("first", PREPARE_S, shapes=shapes)


def _check_all(contestants: list[Contestant], stage: Stage, shapes: Shapes) -> None:
    with stage.timed("check"):
        side_by_side(contestants, stage, lambda c: _check_one(c, stage, shapes))


def _check_one(contestant: Contestant, stage: Stage, shapes: Shapes) -> None:
    if contestant.role is Role.PROBE:
        return
    found = child_of(contestant).ask_within_budget("check", EVALUATION_S * stage.slower, shapes=shapes)
    contestant.correctness = _worse(contestant.correctness, from_plain(Correctness, found))


def _check_workload(job: KernelJob, contestants: list[Contestant], stage: Stage) -> None:
    """First calls as far as memory allows side by side, then one after the other."""
    if not stage.gpu:
        return
    dims = [dict(job.workload.dims)]
    ours = [c for c in contestants if c.role is not Role.PROBE]
    with stage.timed("prepare"):
        fit = int(FIRST_CALL_SHARE * _memory(stage) / max(1, sum(_bytes(job))))
        side_by_side(ours, stage, lambda c: child_of(c).ask("first", PREPARE_S, shapes=dims), max(1, fit))
    _check_at_size(ours, stage, dims)


def _check_at_size(contestants: list[Contestant], stage: Stage, shapes: Shapes) -> None:
    """One after the other, since a check takes several times the memory of its tensors; not by an interpreter."""
    if stage.gpu:
        with stage.timed("check workload"):
            side_by_side(contestants, stage, lambda c: _check_one(c, stage, shapes), at_once=1)


def _size(dims: Mapping[str, int]) -> int:
    return math.prod(dims.values())


def _time_all(job: KernelJob, contestants: list[Contestant], stage: Stage) -> Race:
    if not stage.gpu or not any(c.running and c.role is Role.IMPLEMENTATION for c in contestants):
        return Race()
    with stage.timed("plan"):
        side_by_side(contestants, stage, lambda c: _plan(c, job, stage, len(contestants)), at_once=1)
        if _calls_are_short(contestants):
            side_by_side(contestants, stage, _use_graph, at_once=1)
    running = {c.name: c for c in contestants if c.running}
    samples = samples_per_turn({name: c.plan["estimate_us"] for name, c in running.items()})
    baseline = _first_baseline(contestants, None)

    def turn(name: str, recheck: bool) -> TurnResult | None:
        contestant = running[name]
        guarded(contestant, stage, lambda c: _turn(c, samples[name], recheck, taken))
        return taken.pop() if contestant.running else None

    taken: list[TurnResult] = []
    ours = [name for name, c in running.items() if c.role is Role.IMPLEMENTATION]
    with stage.timed("time"):
        if baseline:
            guarded(running[baseline], stage, _warm)
        race = run_rounds(list(running), ours, baseline, turn, _seed(job.id))
    race.yardsticks = tuple(c.name for c in contestants if c.role is not Role.IMPLEMENTATION)
    return race


def _calls_are_short(contestants: list[Contestant]) -> bool:
    """One way of timing for all, since events add a microsecond or two that a graph does not."""
    rivals = [c for c in contestants if c.running and c.role is not Role.PROBE]
    return any(c.plan["estimate_us"] < GRAPH_BELOW_US for c in rivals)


def _use_graph(contestant: Contestant) -> None:
    found = child_of(contestant).ask_within_budget("use_graph", EVALUATION_S)
    contestant.plan = {**contestant.plan, **found}


def _warm(contestant: Contestant) -> None:
    child_of(contestant).ask("warm", EVALUATION_S, for_s=WARM_S)


def _turn(contestant: Contestant, samples: int, recheck: bool, taken: list[TurnResult]) -> None:
    found = child_of(contestant).ask_within_budget("turn", EVALUATION_S, samples=samples, recheck=recheck)
    taken.append(from_plain(TurnResult, found))


def _plan(contestant: Contestant, job: KernelJob, stage: Stage, children: int) -> None:
    reads, writes = _bytes(job)
    size = reads if contestant.name == "read" and contestant.role is Role.PROBE else reads + writes
    l2_bytes = stage.environment.l2_bytes if stage.environment else 0
    room = RESIDENT_SHARE * _memory(stage) / children
    sets = set_count(size, l2_bytes, room)
    resident = sets * (reads + writes) <= room
    contestant.plan = child_of(contestant).ask_within_budget(
        "plan", EVALUATION_S, dims=dict(job.workload.dims), sets=sets, resident=resident
    )


def set_count(set_bytes: int, l2_bytes: int, room: float) -> int:
    """How many sets keep 3 × L2 of other bytes between two uses of one.  At least two, unless two do not fit into
    `room` bytes and one is so large that its own bytes lie between two uses of any of them.
    """
    if 2 * set_bytes > room and set_bytes >= (L2_ROTATION + 1) * l2_bytes:
        return 1
    return max(2, min(MOST_SETS, -(-L2_ROTATION * l2_bytes // max(1, set_bytes)) + 1))


def _collect(contestants: list[Contestant], stage: Stage, dims: dict[str, int]) -> None:
    """Artefacts of whoever is still alive; what is missing is missing."""
    with stage.timed("artefacts"):
        for contestant in contestants:
            if stage.gpu and contestant.running and contestant.role is not Role.PROBE:
                try:
                    contestant.collected = child_of(contestant).ask("artefacts", EVALUATION_S, dims=dims)
                except Ended as why:
                    contestant.message = f"no artefacts: {why}"


def _rejection(variant: Contestant, expected: Status, job: RejectJob) -> Rejection:
    key = job.keys.get(variant.name)
    return Rejection(
        name=variant.name,
        expected=expected,
        status=Status.PASSED if variant.status is None else variant.status,
        run="",
        key=key.digest if key else "",
        message=variant.message,
        key_parts=key.parts if key else {},
    )


def _first_baseline(contestants: list[Contestant], race: Race | None) -> str | None:
    """To whom ratios are taken: the first baseline that passed."""
    names = [c.name for c in contestants if c.role is Role.BASELINE and c.passed]
    return next((name for name in names if race is None or name in race.turns), None)


def _bytes(job: KernelJob) -> tuple[int, int]:
    """Least bytes (read, written) of one call."""
    numbers = {k: v for k, v in job.params.items() if isinstance(v, int | float)}
    names = {"itemsize": DTYPES[job.dtype].itemsize, **numbers, **job.workload.dims}
    return int(evaluate(job.kernel.reads, names)), int(evaluate(job.kernel.writes, names))


def _memory(stage: Stage) -> int:
    return stage.environment.memory_bytes if stage.environment else 0


def _worse(a: Correctness | None, b: Correctness) -> Correctness:
    from sitegen.measure.merging import merge

    return merge(a, b) if a else b


def _seed(text: str) -> int:
    """Of the order of rounds: the same job, the same order."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
