"""Merge the results of a run into the stored records.

A new evaluation replaces the stored one of the same role, name, workload, dtype and params.  `not_run` (a lost host,
no time left) replaces nothing, so that the last good record stays; every other status replaces older ones.
Evaluations of things that the site no longer has are dropped, and so are runs to which nothing refers any more.

Counters and findings of tools go to the evaluations of their own run, and to those of earlier runs that were made of
the same sources.  A new evaluation without counters keeps those of the one that it replaces, if the sources are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.diagnostics import printable
from sitegen.model.gpu import gpu_id, yours
from sitegen.model.job import CellResult, InspectJob, Job, JobResult
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import (
    SCHEMA,
    CellRecord,
    Evaluation,
    MeasuredGpu,
    MeasuredSweep,
    Record,
    Rejection,
    Role,
    Run,
)
from sitegen.model.site import Site
from sitegen.results.held_tools import HeldTools, with_held_tools
from sitegen.results.kept_tools import with_kept_tools
from sitegen.results.records import EvaluationId, Records, cell_name, evaluation_id, param_combinations, runs_of_tools
from sitegen.results.run_gpus import anonymous, joined_gpus, with_gpus
from sitegen.results.same_code import SameCode
from sitegen.results.stages import TOTAL
from sitegen.results.tool_results import kernel_of, with_tool_results


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The part of a run that the author's machine knows; the GPU machine adds its environment and ceilings."""

    id: str
    """Start in UTC: `2026-11-21T06:10:05Z`."""
    commit: str
    measured_by: str = ""
    """The run on GitHub that signed the results; empty when no signature was verified."""

    @property
    def date(self) -> str:
        """Day of the start."""
        return self.id[:10]


@dataclass(frozen=True, slots=True)
class AcceptedRun:
    """The records and cells of a run, ready to be stored."""

    run: Run
    records: tuple[Record, ...] = ()
    cells: tuple[tuple[str, CellRecord], ...] = ()
    """Pairs (slug of the post, record)."""
    lost: tuple[str, ...] = ()
    """A sentence for each job without a result: `softmax@8192x8192:float32: the worker was lost`."""
    older: tuple[str, ...] = ()
    """A sentence for each job whose result is not stored because the record has a newer run."""
    added: tuple[str, ...] = ()
    """Sentences about the counters and findings that went to results of earlier runs (`HeldTools.added`)."""
    unused: tuple[str, ...] = ()
    """A sentence for each tools job about the counters and findings that were not stored, and why."""


def accept_results(
    site: Site,
    records: Records,
    header: RunHeader,
    results: Sequence[JobResult],
    jobs: Sequence[Job] = (),
    *,
    beside: bool = False,
) -> AcceptedRun | None:
    """Return the new records of every kernel and cell in the results; None when no result came from a GPU.

    `jobs` are those that were sent: the sources of a tools job decide which results of earlier runs it speaks about.
    With `beside` they are records of the reader's own GPU, and those of the same model stay as they are.
    """
    run = new_run(header, results)
    if run is None:
        return None
    gpu = yours(gpu_id(run.environment.gpu)) if beside else gpu_id(run.environment.gpu)
    older = tuple(_outdated_results(records, gpu, run, results))
    lost = {r.id: r.error or "no GPU was there" for r in results if r.error or not _was_measured(r)}
    all_results = [r for r in results if _was_measured(r) and not r.error]
    results = [r for r in with_tool_results(results) if _was_measured(r)]
    of_gpu = {name: record for (name, where), record in records.kernels.items() if where == gpu}
    merged = _merged_records(site, of_gpu, gpu, run, results, records.same_code)
    held = _held_tools(of_gpu | merged, gpu, run, results, jobs, records.same_code)
    touched = merged | {one.record.kernel: _with_run(one.record, run) for one in held if one.reached}
    new = [
        (
            of_gpu.get(kernel.name),
            replace(
                touched[kernel.name],
                seconds=_seconds(kernel, of_gpu.get(kernel.name), [] if older else all_results),
            ),
        )
        for kernel in site.kernels
        if kernel.name in touched
    ]
    return AcceptedRun(
        run,
        tuple(record for old, record in new if not older or record != old),
        tuple(cell for result in results if result.kind == "notebook" for cell in _cells(records, gpu, run, result)),
        lost=tuple(f"{job}: {why}" for job, why in lost.items()),
        older=older,
        added=tuple(sentence for one in held for sentence in one.added),
        unused=tuple(one.unused for one in held if one.unused),
    )


def _merged_records(
    site: Site, of_gpu: Mapping[str, Record], gpu: str, run: Run, results: Iterable[JobResult], same: SameCode
) -> dict[str, Record]:
    """Return the record of each kernel that the results timed or checked, by its name."""
    by_kernel: dict[str, list[JobResult]] = {}
    for result in results:
        if result.kind != "inspect":
            by_kernel.setdefault(kernel_of(result), []).append(result)
    return {
        kernel.name: merge_record(kernel, of_gpu.get(kernel.name), gpu, run, by_kernel[kernel.name], same)
        for kernel in site.kernels
        if kernel.name in by_kernel
    }


def _held_tools(
    of_gpu: Mapping[str, Record],
    gpu: str,
    run: Run,
    results: Iterable[JobResult],
    jobs: Iterable[Job],
    same: SameCode,
) -> list[HeldTools]:
    """Return the record of each kernel that tools looked at, with what they say about results of earlier runs."""
    sent = {job.id: job for job in jobs if isinstance(job, InspectJob)}
    return [
        with_held_tools(
            job, result, of_gpu.get(job.kernel.name, Record(SCHEMA, job.kernel.name, gpu, (), ())), run.id, same
        )
        for result in results
        if (job := sent.get(result.id))
    ]


def _with_run(record: Record, run: Run) -> Record:
    """Return the record with the run, if something in it refers to the run, and without runs that nothing refers to."""
    return replace(record, runs=_used_runs(record, record.runs, run))


def _outdated_results(records: Records, gpu: str, run: Run, results: Iterable[JobResult]) -> Iterable[str]:
    """Yield a sentence for each job of which the records have a newer run."""
    for result in results:
        old = records.kernels.get((kernel_of(result), gpu))
        ids = {evaluation_id(e) for e in result.evaluations} | {r.name for r in result.rejections}
        held: list[str] = [e.run for e in old.evaluations if evaluation_id(e) in ids] if old else []
        held += [r.run for r in old.rejections if r.name in ids] if old else []
        names = {one.name for one in result.sweeps}
        held += [one.run for one in old.sweeps if one.name in names] if old else []
        slug = result.id.removeprefix("posts/")
        cells = [records.cells.get((slug, cell.label, gpu)) for cell in result.cells]
        held += [cell.run.id for cell in cells if cell]
        if held and max(held) > run.id:
            yield f"{result.id}: the record holds the run of {max(held)}, which is newer than {run.id}"


def _was_measured(result: JobResult) -> bool:
    """Tell whether a job ran on a GPU.  A notebook does not say so itself, but it runs beside jobs that do."""
    return result.environment is not None or result.kind == "notebook"


def new_run(header: RunHeader, results: Iterable[JobResult]) -> Run | None:
    """Return the run with its GPUs and the ceilings of each; None when no job ran on a GPU."""
    gpus = joined_gpus([MeasuredGpu(r.environment, r.ceilings) for r in results if r.environment], ())
    return with_gpus(_run_of(header, gpus[0]), gpus) if gpus else None


def _run_of(header: RunHeader, gpu: MeasuredGpu) -> Run:
    return Run(header.id, header.date, header.commit, gpu.environment, measured_by=header.measured_by)


def merge_record(
    kernel: Kernel, old: Record | None, gpu: str, run: Run, results: Sequence[JobResult], same: SameCode
) -> Record:
    """Return the record of a kernel with the results merged into it."""
    new = [
        replace(_seen_in_its_run(e), run=run.id, gpu_hash=_gpu_hash(result), first_passed="")
        for result in results
        for e in result.evaluations
    ]
    evaluations = _merged_evaluations(kernel, old.evaluations if old else (), new, same)
    rejections = _merged_rejections(
        kernel, old, [replace(r, run=run.id) for result in results for r in result.rejections]
    )
    sweeps = _merged_sweeps(
        kernel,
        old.sweeps if old else (),
        [replace(s, run=run.id, gpu_hash=_gpu_hash(result)) for result in results for s in result.sweeps],
    )
    record = Record(SCHEMA, kernel.name, gpu, (), evaluations, rejections, sweeps)
    return replace(record, runs=_used_runs(record, old.runs if old else (), run))


def _used_runs(record: Record, before: Iterable[Run], run: Run) -> tuple[Run, ...]:
    """Return the runs to which the record refers: those before, and `run`."""
    known = {one.id: one for one in before}
    again = known.get(run.id)
    # the rest of an interrupted run: its ceilings came with the first part
    now = with_gpus(run, joined_gpus(run.gpus, again.gpus)) if again else run
    used = {e.run for e in record.evaluations} | {r.run for r in record.rejections} | {s.run for s in record.sweeps}
    used |= runs_of_tools(record)
    return tuple(sorted((one for one in {**known, run.id: now}.values() if one.id in used), key=lambda one: one.id))


def _seconds(kernel: Kernel, old: Record | None, results: Iterable[JobResult]) -> dict[str, float]:
    """Return the wall time of each job of a kernel, by its id: the new one, or the one that was recorded."""
    cells = [
        cell_name(workload.name, dtype, params, kernel)
        for workload in kernel.workloads
        for dtype in kernel.dtypes
        for params in param_combinations(kernel)
    ]
    ends = (*(f"@{cell}" for cell in cells), "/wrong", "/tools", *(f"/sweep/{one.name}" for one in kernel.sweeps))
    new = {r.id: r.seconds[TOTAL] for r in results if r.seconds.get(TOTAL)}
    known = {**(old.seconds if old else {}), **new}
    return {job: known[job] for job in (f"{kernel.name}{end}" for end in ends) if job in known}


def _seen_in_its_run(evaluation: Evaluation) -> Evaluation:
    """Return a new evaluation whose counters and findings are of its own run, whatever run a result names."""
    counters = replace(evaluation.counters, run="") if evaluation.counters else None
    return replace(evaluation, counters=counters, sanitizer_run="")


def _gpu_hash(result: JobResult) -> str:
    return result.environment.gpu_hash if result.environment else ""


def _merged_evaluations(
    kernel: Kernel, old: Iterable[Evaluation], new: Iterable[Evaluation], same: SameCode
) -> tuple[Evaluation, ...]:
    old = tuple(old)
    by_id: dict[EvaluationId, Evaluation] = {evaluation_id(e): e for e in old}
    for evaluation in with_kept_tools(tuple(new), old, same):
        before = by_id.get(evaluation_id(evaluation))
        if before is None or (evaluation.status is not Status.NOT_RUN and before.run <= evaluation.run):
            by_id[evaluation_id(evaluation)] = _with_first_prediction(evaluation, before)
    asked = [e for e in by_id.values() if _is_asked_for(kernel, e)]
    return tuple(sorted(asked, key=lambda e: (e.workload, e.dtype, str(sorted(e.params.items())), e.role, e.name)))


def _with_first_prediction(new: Evaluation, old: Evaluation | None) -> Evaluation:
    """Return an evaluation with the prediction as it stood when the implementation first passed, also after a failure.

    An implementation that passed without a prediction gets none later, because its author knew the result.
    """
    if old is None or not (old.first_passed or old.status is Status.PASSED):
        return new
    first = old.first_passed or old.run
    return replace(
        new,
        predicts=old.predicts,
        predicted_of_ceiling=old.predicted_of_ceiling,
        first_passed=first if first != new.run else "",
    )


def _is_asked_for(kernel: Kernel, evaluation: Evaluation) -> bool:
    names = {
        Role.IMPLEMENTATION: {one.name for one in kernel.implementations},
        Role.BASELINE: set(kernel.baselines),
        Role.PROBE: {evaluation.name},
    }
    return (
        evaluation.name in names[evaluation.role]
        and evaluation.workload in {workload.name for workload in kernel.workloads}
        and evaluation.dtype in kernel.dtypes
        and dict(evaluation.params) in param_combinations(kernel)
    )


def _merged_rejections(kernel: Kernel, old: Record | None, new: Iterable[Rejection]) -> tuple[Rejection, ...]:
    by_name = {r.name: r for r in (old.rejections if old else ())}
    by_name |= {
        r.name: r
        for r in new
        if r.name not in by_name or (r.status is not Status.NOT_RUN and by_name[r.name].run <= r.run)
    }
    names = {wrong.implementation.name for wrong in kernel.wrong}
    return tuple(by_name[name] for name in sorted(by_name) if name in names)


def _merged_sweeps(
    kernel: Kernel, old: Iterable[MeasuredSweep], new: Iterable[MeasuredSweep]
) -> tuple[MeasuredSweep, ...]:
    """Return the sweeps that kernel.yaml still has; a sweep of which no point was run replaces nothing."""
    by_name = {one.name: one for one in old}
    for sweep in new:
        before = by_name.get(sweep.name)
        was_run = any(point.status is not Status.NOT_RUN for point in sweep.points)
        if before is None or (was_run and before.run <= sweep.run):
            by_name[sweep.name] = sweep
    names = {sweep.name for sweep in kernel.sweeps}
    return tuple(by_name[name] for name in sorted(by_name) if name in names)


def _cells(records: Records, gpu: str, run: Run, result: JobResult) -> Iterable[tuple[str, CellRecord]]:
    slug = result.id.removeprefix("posts/")
    for cell in result.cells:
        before = records.cells.get((slug, cell.label, gpu))
        if before is None or (Status(cell.status) is not Status.NOT_RUN and before.run.id <= run.id):
            yield slug, _cell_record(cell, gpu, run)


def _cell_record(cell: CellResult, gpu: str, run: Run) -> CellRecord:
    return CellRecord(
        schema=SCHEMA,
        label=cell.label,
        gpu=gpu,
        key=cell.key.digest,
        run=replace(run, environment=anonymous(run.environment), ceilings=(), other_gpus=()),
        status=Status(cell.status),
        outputs=tuple(replace(output, text=printable(output.text)) for output in cell.outputs),
        key_parts=cell.key.parts,
        duration_s=cell.duration_s,
    )
