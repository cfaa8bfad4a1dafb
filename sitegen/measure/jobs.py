"""A job → its `JobResult`.  This is the parent process: it starts child processes and never touches CUDA itself.

A kernel job has four parts: prepare everything (compilers run side by side), check everything, take the rounds of all
that passed (job_timing.py), and collect compiled code.  Nothing else runs on the GPU during the rounds.
Implementations are checked at the small shapes and at the workload; baselines are checked at the workload only, where
they are timed.  A failure ends one evaluation.  The others go on as soon as a fresh process has shown that the GPU
still works.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Semaphore

from sitegen.measure.artefacts import digest_of_log, log_artefact
from sitegen.measure.driver_turns import turn_at_driver
from sitegen.measure.evaluation import PendingEvaluation, artefacts_of, evaluation_of
from sitegen.measure.job_timing import first_baseline, time_all
from sitegen.measure.memory_plan import MemoryPlan, plan_memory
from sitegen.measure.merging import merge
from sitegen.measure.next_processes import prepare_next_generations
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import (
    Check,
    CollectArtefacts,
    MakeFirstCalls,
    MeasureCeilings,
    Prepare,
    ReadEnvironment,
    Start,
)
from sitegen.measure.room import Room
from sitegen.measure.rounds import Timings
from sitegen.measure.sources import write_sources
from sitegen.measure.steps import Step, end_processes, run_in_turn, run_side_by_side
from sitegen.measure.without_gpu import compile_without_gpu
from sitegen.measure.workload import is_matrix_kernel
from sitegen.measure.workspace import EVALUATION_S, PREPARE_S, Workspace, read_environment
from sitegen.model.job import JOB_SCHEMA, NO_DTYPE, NOT_AGAIN, CeilingsJob, JobResult, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status
from sitegen.model.record import Rejection, Role

CEILINGS_S = 180.0
PROBES = ("copy", "read")
"""Names of the memory probes of a job: the best copy and the best read of the workload's bytes, timed in the same
rounds. A matrix kernel has none."""

Shapes = Sequence[Mapping[str, int]]
Evaluations = Sequence[PendingEvaluation]


def run_kernel_job(job: KernelJob, workspace: Workspace) -> JobResult:
    """Check and time one kernel at one workload, dtype and params."""
    write_sources(workspace.folder / "site", job.sources)
    evaluations = _evaluations(job, workspace.gpu)
    memory = plan_memory(job, sum(e.status is None for e in evaluations), workspace.memory_bytes)
    timings = Timings()
    if workspace.gpu and not memory.fits:
        return _result_without_room(job, evaluations, workspace, memory)
    try:
        _fork(evaluations, workspace)
        _check(job, evaluations, workspace, memory)
        timings = time_all(job, evaluations, workspace, memory)
        _collect(job, evaluations, workspace, memory)
        compile_without_gpu(evaluations, workspace)
    finally:
        with workspace.timed("end"):
            end_processes(evaluations)
    baseline = first_baseline(evaluations, timings)
    return replace(
        _result(job, workspace),
        evaluations=tuple(evaluation_of(e, job, timings, baseline) for e in evaluations),
        artefacts=artefacts_of(evaluations, timings),
    )


def _result_without_room(
    job: KernelJob, evaluations: Evaluations, workspace: Workspace, memory: MemoryPlan
) -> JobResult:
    """Return the result of a workload that is too large for the GPU; nothing of it has been started."""
    for pending in evaluations:
        if pending.status is None:
            pending.end(EvaluationEnded(Status.DOES_NOT_FIT, memory.shortage))
    with workspace.timed("start"):
        read_environment(workspace)
    return replace(
        _result(job, workspace),
        evaluations=tuple(evaluation_of(e, job, Timings(), None) for e in evaluations),
    )


def run_reject_job(job: RejectJob, workspace: Workspace) -> JobResult:
    """Check the `wrong/` variants of a kernel at the small shapes and at its smallest workload; time nothing."""
    write_sources(workspace.folder / "site", job.sources)
    wrong = [w.implementation for w in job.kernel.wrong]
    variants = [_evaluation(i, job.kernel, job.dtype_of(i), workspace.gpu) for i in wrong]
    smallest = min((w.dims for w in job.kernel.workloads), key=_elements)
    try:
        _start(variants, workspace)
        _prepare(variants, workspace)
        if workspace.gpu:
            with workspace.timed("first calls"):
                run_side_by_side(variants, workspace, lambda e: _make_first_calls(e, job.kernel.checks))
        _check_small_shapes(variants, workspace, job.kernel.checks)
        _check_at_size(variants, workspace, [smallest])
    finally:
        end_processes(variants)
    expected = {w.implementation.name: w.fails for w in job.kernel.wrong}
    rejections = tuple(_rejection(v, expected[v.name], job) for v in variants)
    logs = {name: packed for variant in variants for name, packed in log_artefact(variant.log).items()}
    return replace(_result(job, workspace), rejections=rejections, artefacts=dict(sorted(logs.items())))


def run_ceilings_job(job: CeilingsJob, workspace: Workspace) -> JobResult:
    """Measure the limits of the GPU in one child process."""
    if not workspace.gpu:
        return JobResult(JOB_SCHEMA, job.id, job.kind, error="no GPU")
    child = workspace.start("ceilings", "ceilings")
    try:
        with workspace.timed("start"):
            environment = child.ask(ReadEnvironment(), PREPARE_S)
        with workspace.timed("ceilings"):
            ceilings = child.ask(MeasureCeilings(), CEILINGS_S).ceilings
    except EvaluationEnded as why:
        return JobResult(JOB_SCHEMA, job.id, job.kind, seconds=workspace.seconds, error=str(why))
    finally:
        child.end()
    return JobResult(JOB_SCHEMA, job.id, job.kind, environment, ceilings=ceilings, seconds=workspace.seconds)


def _result(job: KernelJob | RejectJob, workspace: Workspace) -> JobResult:
    """Return the part of a result that every kind of job has."""
    return JobResult(
        JOB_SCHEMA,
        job.id,
        job.kind,
        workspace.environment,
        seconds=workspace.seconds,
        error=workspace.unhealthy,
    )


def _evaluations(job: KernelJob, gpu: bool) -> list[PendingEvaluation]:
    """Return the evaluations of a job; without a GPU only Triton code is checked, and only at the small shapes."""
    implementations = [_evaluation(i, job.kernel, job.dtype, gpu) for i in job.kernel.implementations]
    others = [PendingEvaluation(Role.BASELINE, name) for name in job.kernel.baselines]
    others += [] if is_matrix_kernel(job) else [PendingEvaluation(Role.PROBE, name) for name in PROBES]
    if not gpu:
        for pending in others if job.kernel.checks else [*implementations, *others]:
            pending.status, pending.message = Status.NOT_RUN, "no GPU"
    for pending in implementations:
        if pending.status is None and (where := job.hung.get(pending.name)):
            pending.status, pending.message = Status.NOT_RUN, f"{NOT_AGAIN}, because it hung at {where}"
    return implementations + others


def _evaluation(implementation: Implementation, kernel: Kernel, dtype: str, gpu: bool) -> PendingEvaluation:
    pending = PendingEvaluation(Role.IMPLEMENTATION, implementation.name, implementation)
    if dtype not in (implementation.dtypes or kernel.dtypes):
        pending.status, pending.message = Status.UNSUPPORTED, f"{NO_DTYPE} {dtype}"
    elif not gpu and implementation.language is not Language.TRITON:
        pending.status, pending.message = Status.NOT_RUN, "no GPU"
    return pending


def _fork(evaluations: Evaluations, workspace: Workspace) -> None:
    """Start a process for each evaluation; the first one waits for the imports of the fork server."""
    with workspace.timed("start"):
        for pending in evaluations:
            if pending.status is None:
                pending.child = workspace.start(pending.role, pending.name)


def _start(evaluations: Evaluations, workspace: Workspace) -> None:
    """Start a process for each evaluation, side by side."""
    _fork(evaluations, workspace)
    _start_all(evaluations, workspace)


def _start_all(evaluations: Evaluations, workspace: Workspace) -> None:
    """Create the CUDA contexts of the present processes; the first of them also reads the facts of the GPU.

    No code of the site has run in it by then.  The driver creates one context after the other, 0.2 s each on an H200.
    Those of the next generations come later, because with all of them at once the first check of softmax began after
    7 s.
    """
    first = next((e for e in evaluations if e.running), None)

    def start(pending: PendingEvaluation) -> None:
        pending.process.ask(Start(), PREPARE_S * workspace.slower)
        if workspace.gpu and pending is first:
            workspace.environment = pending.process.ask(ReadEnvironment(), PREPARE_S)

    with workspace.timed("start"), turn_at_driver():
        run_side_by_side(evaluations, workspace, start)
        if workspace.environment is None:
            read_environment(workspace)


def _check(job: KernelJob, evaluations: Evaluations, workspace: Workspace, memory: MemoryPlan) -> None:
    """Prepare and check the first generation of processes; meanwhile the next generations are prepared."""
    room, checks = Room(memory.free), Semaphore(memory.checks)

    def check_workload(pending: PendingEvaluation) -> None:
        if workspace.gpu and pending.role is not Role.PROBE:
            with checks:
                room.do(memory.check, lambda: _check_one(pending, workspace, [job.workload.dims]))

    steps: list[Step] = [
        lambda e: _prepare_one(e, workspace),
        lambda e: _make_all_first_calls(e, job, workspace, room, memory),
        lambda e: _check_small_shapes_of(e, job, workspace),
        check_workload,
    ]
    _start_all(evaluations, workspace)
    with prepare_next_generations(job, evaluations, workspace, memory, room), workspace.timed("check"):
        run_in_turn(_slowest_first(evaluations), workspace, steps)


def _slowest_first(evaluations: Evaluations) -> list[PendingEvaluation]:
    """Return the evaluations in the order in which they start: the compilers of probes and baselines take longest."""
    order = (Role.PROBE, Role.BASELINE, Role.IMPLEMENTATION)
    return sorted(evaluations, key=lambda e: order.index(e.role))


def _prepare(evaluations: Evaluations, workspace: Workspace) -> None:
    """Import and compile, side by side."""
    with workspace.timed("prepare"):
        run_side_by_side(evaluations, workspace, lambda e: _prepare_one(e, workspace))


def _prepare_one(pending: PendingEvaluation, workspace: Workspace) -> None:
    pending.allocates = pending.process.ask(Prepare(), PREPARE_S * workspace.slower).allocates


def _make_all_first_calls(
    pending: PendingEvaluation, job: KernelJob, workspace: Workspace, room: Room, memory: MemoryPlan
) -> None:
    """Call the code once, so that later deadlines contain no compilation; an interpreter compiles nothing.

    An implementation is called at the small shapes too.
    """
    try:
        if workspace.gpu and pending.role is not Role.PROBE:
            if pending.role is Role.IMPLEMENTATION:
                _make_first_calls(pending, job.kernel.checks)
            room.do(memory.call, lambda: _make_first_calls(pending, [job.workload.dims]))
    finally:
        pending.compiled.set()


def _make_first_calls(pending: PendingEvaluation, shapes: Shapes) -> None:
    pending.process.ask(MakeFirstCalls(tuple(shapes)), PREPARE_S)


def _check_small_shapes(evaluations: Evaluations, workspace: Workspace, shapes: Shapes) -> None:
    """Check implementations at the small shapes, side by side; do nothing where there are no such shapes."""
    implementations = [e for e in evaluations if e.role is Role.IMPLEMENTATION]
    if shapes:
        with workspace.timed("check"):
            run_side_by_side(implementations, workspace, lambda e: _check_one(e, workspace, shapes))


def _check_small_shapes_of(pending: PendingEvaluation, job: KernelJob, workspace: Workspace) -> None:
    if pending.role is Role.IMPLEMENTATION and job.kernel.checks:
        _check_one(pending, workspace, job.kernel.checks)


def _check_at_size(evaluations: Evaluations, workspace: Workspace, shapes: Shapes, at_once: int = 1) -> None:
    """Check at large shapes; an interpreter would take too long."""
    if workspace.gpu:
        with workspace.timed("check workload"):
            run_side_by_side(evaluations, workspace, lambda e: _check_one(e, workspace, shapes), at_once)


def _check_one(pending: PendingEvaluation, workspace: Workspace, shapes: Shapes) -> None:
    """Check at the shapes, and keep the worst errors of this and of earlier checks."""
    deadline_s = EVALUATION_S * workspace.slower
    correctness = pending.process.ask_within_budget(Check(tuple(shapes)), deadline_s)
    pending.correctness = merge(pending.correctness, correctness) if pending.correctness else correctness


def _elements(dims: Mapping[str, int]) -> int:
    return math.prod(dims.values())


def _collect(job: KernelJob, evaluations: Evaluations, workspace: Workspace, memory: MemoryPlan) -> None:
    """Collect the compiled code of all that still run; a failure here fails no evaluation."""
    alive = [e for e in evaluations if workspace.gpu and e.running and e.role is not Role.PROBE]
    at_once = max(1, min(len(alive), memory.free // max(1, memory.call)))
    with workspace.timed("artefacts"), ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda e: _collect_one(e, job.workload.dims), alive))


def _collect_one(pending: PendingEvaluation, dims: Mapping[str, int]) -> None:
    try:
        pending.collected = pending.process.ask(CollectArtefacts(dims), EVALUATION_S)
        missing = pending.collected.missing
    except EvaluationEnded as why:
        missing = str(why)
    pending.message = f"no artefacts: {missing}" if missing else pending.message


def _rejection(variant: PendingEvaluation, expected: Status, job: RejectJob) -> Rejection:
    key = job.keys.get(variant.name)
    return Rejection(
        name=variant.name,
        expected=expected,
        status=Status.PASSED if variant.status is None else variant.status,
        run="",
        key=key.digest if key else "",
        message=variant.message,
        key_parts=key.parts if key else {},
        log=digest_of_log(variant.log),
    )
