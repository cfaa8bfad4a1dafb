"""A job → its `JobResult`.  The parent: starts children, asks them in turn, never touches CUDA itself.

A kernel job: prepare all (compilers run side by side), check all, then time those that passed, in rounds, with nothing
else on the GPU, by generations of processes (generations.py).  Implementations are checked at the small shapes and at
the workload, baselines at the workload only, where they are timed.  A fault ends one contestant; the others go on, once
a fresh process has shown that the GPU still works.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Semaphore

from sitegen.measure.contestant import Contestant, artefacts_of, evaluation_of
from sitegen.measure.generations import first_baseline, next_generations, time_all
from sitegen.measure.merging import merge
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Race
from sitegen.measure.sources import write_sources
from sitegen.measure.stage import (
    EVALUATION_S,
    PREPARE_S,
    Stage,
    child_of,
    end_all,
    read_environment,
    side_by_side,
)
from sitegen.measure.without_gpu import compile_without_gpu
from sitegen.measure.workload import bytes_of, checks_at_once, fitting, is_matrix
from sitegen.model.job import JOB_SCHEMA, CeilingsJob, JobResult, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Ceiling, Correctness, Environment, Rejection, Role

CEILINGS_S = 180.0
FIRST_CALL_SHARE, CHECK_SHARE = 0.4, 0.4
"""Of the GPU's memory: what first calls may take together, and what checks may."""
Shapes = Sequence[Mapping[str, int]]
PROBES = ("copy", "read")
"""The best copy and the best read of the workload's bytes, in the same rounds; not of a matrix kernel."""


def run_kernel_job(job: KernelJob, stage: Stage) -> JobResult:
    write_sources(stage.folder / "site", job.sources)
    contestants = _contestants(job, stage.gpu)
    race = Race()
    try:
        _start(contestants, stage)
        _prepare([c for c in contestants if c.role is not Role.PROBE], stage)
        with next_generations(job, contestants, stage) as compiled:
            _first_calls(job, contestants, stage)
            compiled.set()
            _check_all(contestants, stage, job.kernel.checks)
            _check_workload(job, contestants, stage)
        race = time_all(job, contestants, stage)
        _collect(job, contestants, stage)
        compile_without_gpu(contestants, stage)
    finally:
        with stage.timed("end"):
            end_all(contestants)
    baseline = first_baseline(contestants, race)
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
        _start(variants, stage)
        _prepare(variants, stage)
        if stage.gpu:
            with stage.timed("first calls"):
                side_by_side(variants, stage, lambda c: _first_one(c, job.kernel.checks))
        _check_all(variants, stage, job.kernel.checks)
        _check_at_size(variants, stage, [min((w.dims for w in job.kernel.workloads), key=_size)])
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
    others += [] if is_matrix(job) else [Contestant(Role.PROBE, name) for name in PROBES]
    if not gpu:
        for contestant in others if job.kernel.checks else [*ours, *others]:
            contestant.status, contestant.message = Status.NOT_RUN, "no GPU"
    return ours + others


def _contestant(implementation: Implementation, kernel: Kernel, dtype: str, gpu: bool) -> Contestant:
    made = Contestant(Role.IMPLEMENTATION, implementation.name, implementation)
    if dtype not in (implementation.dtypes or kernel.dtypes):
        made.status, made.message = Status.UNSUPPORTED, f"does not offer {dtype}"
    elif not gpu and implementation.language is not Language.TRITON:
        made.status, made.message = Status.NOT_RUN, "no GPU"
    return made


def _start(contestants: list[Contestant], stage: Stage) -> None:
    """A child each, side by side."""
    with stage.timed("start"):
        for contestant in contestants:
            if contestant.status is None:
                contestant.child = stage.start(contestant.role, contestant.name)
        with ThreadPoolExecutor(1) as pool:
            facts = pool.submit(read_environment, stage)
            side_by_side(contestants, stage, lambda c: child_of(c).ask("start", PREPARE_S * stage.slower))
            facts.result()


def _prepare(contestants: list[Contestant], stage: Stage) -> None:
    """Imports and compiles, side by side."""
    with stage.timed("prepare"):
        side_by_side(contestants, stage, lambda c: _prepare_one(c, stage))


def _prepare_one(contestant: Contestant, stage: Stage) -> None:
    found = child_of(contestant).ask("prepare", PREPARE_S * stage.slower)
    contestant.allocates = bool(found["allocates"])


def _first_calls(job: KernelJob, contestants: list[Contestant], stage: Stage) -> None:
    """So that later deadlines hold no compiler: at the small shapes whoever is checked there, and at the workload as
    many at once as memory allows.  Meanwhile the probes, whose compilers take longest, are prepared.  An interpreter
    has nothing to compile."""
    if not stage.gpu:
        return
    room = Semaphore(fitting(FIRST_CALL_SHARE, stage.memory_bytes, sum(bytes_of(job)), most=len(contestants)))

    def first(contestant: Contestant) -> None:
        if contestant.role is Role.PROBE:
            _prepare_one(contestant, stage)
            return
        if contestant.role is Role.IMPLEMENTATION:
            _first_one(contestant, job.kernel.checks)
        with room:
            _first_one(contestant, [job.workload.dims])

    with stage.timed("first calls"):
        side_by_side(contestants, stage, first)


def _first_one(contestant: Contestant, shapes: Shapes) -> None:
    child_of(contestant).ask("first", PREPARE_S, shapes=[dict(dims) for dims in shapes])


def _check_all(contestants: list[Contestant], stage: Stage, shapes: Shapes) -> None:
    """Implementations at the small shapes, side by side; nothing where there are none."""
    ours = [c for c in contestants if c.role is Role.IMPLEMENTATION]
    if shapes:
        with stage.timed("check"):
            side_by_side(ours, stage, lambda c: _check_one(c, stage, shapes))


def _check_one(contestant: Contestant, stage: Stage, shapes: Shapes) -> None:
    asked = [dict(dims) for dims in shapes]
    found = child_of(contestant).ask_within_budget("check", EVALUATION_S * stage.slower, shapes=asked)
    correctness, before = from_plain(Correctness, found), contestant.correctness
    contestant.correctness = merge(before, correctness) if before else correctness


def _check_workload(job: KernelJob, contestants: list[Contestant], stage: Stage) -> None:
    rivals = [c for c in contestants if c.role is not Role.PROBE]
    _check_at_size(rivals, stage, [job.workload.dims], checks_at_once(job, CHECK_SHARE, stage.memory_bytes))


def _check_at_size(contestants: list[Contestant], stage: Stage, shapes: Shapes, at_once: int = 1) -> None:
    """Not by an interpreter."""
    if stage.gpu:
        with stage.timed("check workload"):
            side_by_side(contestants, stage, lambda c: _check_one(c, stage, shapes), at_once)


def _size(dims: Mapping[str, int]) -> int:
    return math.prod(dims.values())


def _collect(job: KernelJob, contestants: list[Contestant], stage: Stage) -> None:
    """Artefacts of whoever is still alive; what is missing is missing."""
    alive = [c for c in contestants if stage.gpu and c.running and c.role is not Role.PROBE]
    fit = fitting(FIRST_CALL_SHARE, stage.memory_bytes, sum(bytes_of(job)), most=max(1, len(alive)))
    with stage.timed("artefacts"), ThreadPoolExecutor(fit) as pool:
        list(pool.map(lambda c: _collect_one(c, dict(job.workload.dims)), alive))


def _collect_one(contestant: Contestant, dims: dict[str, int]) -> None:
    try:
        contestant.collected = child_of(contestant).ask("artefacts", EVALUATION_S, dims=dims)
        missing = contestant.collected["missing"]
    except Ended as why:
        missing = str(why)
    contestant.message = f"no artefacts: {missing}" if missing else contestant.message


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
