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

from sitegen.measure.evaluation import PendingEvaluation, artefacts_of, evaluation_of
from sitegen.measure.job_timing import first_baseline, time_all
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
from sitegen.measure.rounds import Timings
from sitegen.measure.sources import write_sources
from sitegen.measure.steps import end_processes, run_side_by_side
from sitegen.measure.without_gpu import compile_without_gpu
from sitegen.measure.workload import checks_at_once, count_that_fits, is_matrix_kernel, least_bytes
from sitegen.measure.workspace import EVALUATION_S, PREPARE_S, Workspace, read_environment
from sitegen.model.job import JOB_SCHEMA, CeilingsJob, JobResult, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status
from sitegen.model.record import Rejection, Role

CEILINGS_S = 180.0
FIRST_CALL_SHARE, CHECK_SHARE = 0.4, 0.4
"""Shares of the GPU's memory that first calls may take together, and that checks may take together."""
PROBES = ("copy", "read")
"""Names of the memory probes of a job: the best copy and the best read of the workload's bytes, timed in the same
rounds. A matrix kernel has none."""

Shapes = Sequence[Mapping[str, int]]
Evaluations = Sequence[PendingEvaluation]


def run_kernel_job(job: KernelJob, workspace: Workspace) -> JobResult:
    """Check and time one kernel at one workload, dtype and params."""
    write_sources(workspace.folder / "site", job.sources)
    evaluations = _evaluations(job, workspace.gpu)
    timings = Timings()
    try:
        _start(evaluations, workspace)
        _check(job, evaluations, workspace)
        timings = time_all(job, evaluations, workspace)
        _collect(job, evaluations, workspace)
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
    return replace(_result(job, workspace), rejections=rejections)


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
    return implementations + others


def _evaluation(implementation: Implementation, kernel: Kernel, dtype: str, gpu: bool) -> PendingEvaluation:
    pending = PendingEvaluation(Role.IMPLEMENTATION, implementation.name, implementation)
    if dtype not in (implementation.dtypes or kernel.dtypes):
        pending.status, pending.message = Status.UNSUPPORTED, f"does not offer {dtype}"
    elif not gpu and implementation.language is not Language.TRITON:
        pending.status, pending.message = Status.NOT_RUN, "no GPU"
    return pending


def _start(evaluations: Evaluations, workspace: Workspace) -> None:
    """Start a process for each evaluation, side by side, and read the facts of the GPU meanwhile."""
    with workspace.timed("start"):
        for pending in evaluations:
            if pending.status is None:
                pending.child = workspace.start(pending.role, pending.name)
        with ThreadPoolExecutor(1) as pool:
            facts = pool.submit(read_environment, workspace)
            run_side_by_side(evaluations, workspace, lambda e: e.process.ask(Start(), PREPARE_S * workspace.slower))
            facts.result()


def _check(job: KernelJob, evaluations: Evaluations, workspace: Workspace) -> None:
    """Prepare and check the first generation of processes, and meanwhile prepare the next generations."""
    _prepare([e for e in evaluations if e.role is not Role.PROBE], workspace)
    with prepare_next_generations(job, evaluations, workspace) as compiled:
        _make_all_first_calls(job, evaluations, workspace)
        compiled.set()
        _check_small_shapes(evaluations, workspace, job.kernel.checks)
        _check_workload(job, evaluations, workspace)


def _prepare(evaluations: Evaluations, workspace: Workspace) -> None:
    """Import and compile, side by side."""
    with workspace.timed("prepare"):
        run_side_by_side(evaluations, workspace, lambda e: _prepare_one(e, workspace))


def _prepare_one(pending: PendingEvaluation, workspace: Workspace) -> None:
    pending.allocates = pending.process.ask(Prepare(), PREPARE_S * workspace.slower).allocates


def _make_all_first_calls(job: KernelJob, evaluations: Evaluations, workspace: Workspace) -> None:
    """Call everything once, so that later deadlines contain no compilation; an interpreter compiles nothing.

    Implementations are called at the small shapes too, and at the workload as many at once as memory allows.  The
    probes, whose compilers take longest, are prepared meanwhile.
    """
    if not workspace.gpu:
        return
    size, most = sum(least_bytes(job)), len(evaluations)
    room = Semaphore(count_that_fits(FIRST_CALL_SHARE, workspace.memory_bytes, size, most=most))

    def call_first(pending: PendingEvaluation) -> None:
        if pending.role is Role.PROBE:
            _prepare_one(pending, workspace)
            return
        if pending.role is Role.IMPLEMENTATION:
            _make_first_calls(pending, job.kernel.checks)
        with room:
            _make_first_calls(pending, [job.workload.dims])

    with workspace.timed("first calls"):
        run_side_by_side(evaluations, workspace, call_first)


def _make_first_calls(pending: PendingEvaluation, shapes: Shapes) -> None:
    pending.process.ask(MakeFirstCalls(tuple(shapes)), PREPARE_S)


def _check_small_shapes(evaluations: Evaluations, workspace: Workspace, shapes: Shapes) -> None:
    """Check implementations at the small shapes, side by side; do nothing where there are no such shapes."""
    implementations = [e for e in evaluations if e.role is Role.IMPLEMENTATION]
    if shapes:
        with workspace.timed("check"):
            run_side_by_side(implementations, workspace, lambda e: _check_one(e, workspace, shapes))


def _check_workload(job: KernelJob, evaluations: Evaluations, workspace: Workspace) -> None:
    checked = [e for e in evaluations if e.role is not Role.PROBE]
    at_once = checks_at_once(job, CHECK_SHARE, workspace.memory_bytes)
    _check_at_size(checked, workspace, [job.workload.dims], at_once)


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


def _collect(job: KernelJob, evaluations: Evaluations, workspace: Workspace) -> None:
    """Collect the compiled code of all that still run; a failure here fails no evaluation."""
    alive = [e for e in evaluations if workspace.gpu and e.running and e.role is not Role.PROBE]
    size, most = sum(least_bytes(job)), max(1, len(alive))
    at_once = count_that_fits(FIRST_CALL_SHARE, workspace.memory_bytes, size, most=most)
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
    )
