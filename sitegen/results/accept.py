"""Merge the results of a run into the stored records.

A new evaluation replaces the stored one of the same role, name, workload, dtype and params.  `not_run` (a lost host,
no time left) replaces nothing, so that the last good record stays; every other status replaces older ones.
Evaluations of things that the site no longer has are dropped, and so are runs to which nothing refers any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sitegen.diagnostics import printable
from sitegen.model.gpu import gpu_id, yours
from sitegen.model.job import CellResult, JobResult
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
from sitegen.results.records import EvaluationId, Records, cell_name, evaluation_id, param_combinations
from sitegen.results.run_gpus import anonymous, joined_gpus, with_gpus
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


def accept_results(
    site: Site, records: Records, header: RunHeader, results: Sequence[JobResult], *, beside: bool = False
) -> AcceptedRun | None:
    """Return the new records of every kernel and cell in the results; None when no result came from a GPU.

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
    kernels = {kernel.name: kernel for kernel in site.kernels}
    touched = {name: [r for r in results if kernel_of(r) == name and r.kind != "inspect"] for name in kernels}
    new = [
        (
            records.kernels.get((name, gpu)),
            replace(
                merge_record(kernels[name], records.kernels.get((name, gpu)), gpu, run, mine),
                seconds=_seconds(kernels[name], records.kernels.get((name, gpu)), [] if older else all_results),
            ),
        )
        for name, mine in touched.items()
        if mine
    ]
    return AcceptedRun(
        run,
        tuple(record for old, record in new if not older or record != old),
        tuple(cell for result in results if result.kind == "notebook" for cell in _cells(records, gpu, run, result)),
        lost=tuple(f"{job}: {why}" for job, why in lost.items()),
        older=older,
    )


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


def merge_record(kernel: Kernel, old: Record | None, gpu: str, run: Run, results: Sequence[JobResult]) -> Record:
    """Return the record of a kernel with the results merged into it."""
    new = [
        replace(e, run=run.id, gpu_hash=_gpu_hash(result), first_passed="")
        for result in results
        for e in result.evaluations
    ]
    evaluations = _merged_evaluations(kernel, old.evaluations if old else (), new)
    rejections = _merged_rejections(
        kernel, old, [replace(r, run=run.id) for result in results for r in result.rejections]
    )
    sweeps = _merged_sweeps(
        kernel,
        old.sweeps if old else (),
        [replace(s, run=run.id, gpu_hash=_gpu_hash(result)) for result in results for s in result.sweeps],
    )
    before = {one.id: one for one in (old.runs if old else ())}
    again = before.get(run.id)
    # the rest of an interrupted run: its ceilings came with the first part
    now = with_gpus(run, joined_gpus(run.gpus, again.gpus)) if again else run
    runs = {**before, run.id: now}
    used = {e.run for e in evaluations} | {r.run for r in rejections} | {s.run for s in sweeps}
    kept = tuple(sorted((one for one in runs.values() if one.id in used), key=lambda one: one.id))
    return Record(SCHEMA, kernel.name, gpu, kept, evaluations, rejections, sweeps)


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


def _gpu_hash(result: JobResult) -> str:
    return result.environment.gpu_hash if result.environment else ""


def _merged_evaluations(kernel: Kernel, old: Iterable[Evaluation], new: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
    by_id: dict[EvaluationId, Evaluation] = {evaluation_id(e): e for e in old}
    for evaluation in new:
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
