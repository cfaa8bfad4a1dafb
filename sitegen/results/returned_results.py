"""Check the results of a run against the jobs that were sent, and say why they are not stored.

Every name in a result must be one that its job has, every key that of the code that was sent, and every value one that
a measurement can give.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from sitegen.diagnostics import printable
from sitegen.model.gpu import gpu_id
from sitegen.model.job import CellResult, InspectJob, Job, JobResult, KernelJob, Key, NotebookJob, RejectJob, SweepJob
from sitegen.model.kernel import Status
from sitegen.model.record import Evaluation, MeasuredSweep, Rejection, Role
from sitegen.model.sweep_points import values_of_points
from sitegen.results.field_rules import is_run_id, problems

PROBES = ("copy", "read")
AHEAD = dt.timedelta(days=1)
"""Most that the clock of a GPU machine may be ahead of ours."""
MOST = 20
"""Most sentences about one result."""


def with_printable_messages(result: JobResult) -> JobResult:
    """Return a result without control characters in its messages: a compiler or a kernel may have coloured its words,
    and a record may not hold them.
    """
    return replace(
        result,
        evaluations=tuple(replace(one, message=printable(one.message)) for one in result.evaluations),
        rejections=tuple(replace(one, message=printable(one.message)) for one in result.rejections),
        sweeps=tuple(
            replace(one, points=tuple(replace(point, message=printable(point.message)) for point in one.points))
            for one in result.sweeps
        ),
    )


def reasons_to_refuse(jobs: Sequence[Job], results: Sequence[JobResult]) -> Iterator[str]:
    """Yield a sentence for each thing that keeps the results from being stored."""
    sent = {job.id: job for job in jobs}
    seen: set[tuple[str, ...]] = set()
    for result in results:
        title = f"`{result.id[:100]}`"
        if (name := result_id(result)) in seen:
            yield f"{title} is in the results twice"
        seen.add(name)
        job = sent.get(result.id)
        if job is None or job.kind != result.kind:
            yield f"{title} is none of the jobs that were sent"
            continue
        wrong = [sentence for _, sentence in zip(range(MOST), _refusals_of(job, result), strict=False)]
        yield from (f"{title}: {sentence}" for sentence in wrong)
    gpus = sorted({gpu_id(r.environment.gpu) for r in results if r.environment})
    if len(gpus) > 1:
        yield f"the results are of several GPUs: {', '.join(gpu[:60] for gpu in gpus[:5])}"


def result_id(result: JobResult) -> tuple[str, ...]:
    """Return the identity of a result in its run: the id of its job, and for ceilings the GPU too."""
    by_gpu = result.environment.gpu_hash if result.kind == "ceilings" and result.environment else ""
    return (result.id, by_gpu)


def run_time_mistake(run: str, now: dt.datetime) -> str:
    """Return the mistake in the start of a run; empty when it is a time that is not in the future."""
    if not is_run_id(run):
        return "its manifest does not say when it ran"
    began = dt.datetime.strptime(run, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
    if began > now + AHEAD:
        return f"it ran at {run}, which is in the future: correct the clock of the GPU machine and run it again"
    return ""


def _refusals_of(job: Job, result: JobResult) -> Iterator[str]:
    odd = False
    for path, sentence in problems(result):
        odd = True
        yield f"{'.'.join(map(str, path[:-1])) or 'the result'}: {sentence}"
    if not odd:
        yield from _wrong_names(job, result)


def _wrong_names(job: Job, result: JobResult) -> Iterator[str]:
    kinds: Mapping[str, Sequence[object]] = {
        "kernel": result.evaluations,
        "reject": result.rejections,
        "sweep": result.sweeps,
        "ceilings": result.ceilings,
        "notebook": result.cells,
        "inspect": (*result.counted, *result.sanitized),
        "try": result.profiled,
    }
    foreign = [kind for kind, brought in kinds.items() if brought and kind != job.kind]
    yield from _wrong_logs(result)
    if foreign:
        yield f"a job of the kind {job.kind} brings what only one of the kind {foreign[0]} does"
    elif isinstance(job, KernelJob):
        yield from _evaluations(job, result.evaluations)
    elif isinstance(job, RejectJob):
        yield from _rejections(job, result)
    elif isinstance(job, SweepJob):
        yield from _sweeps(job, result.sweeps)
    elif isinstance(job, NotebookJob):
        yield from _cells(job, result.cells)
    elif isinstance(job, InspectJob):
        yield from _tools(job, result)
    else:
        yield from _listed_twice([one.name for one in result.ceilings], "ceiling")


def _wrong_logs(result: JobResult) -> Iterator[str]:
    """Yield a sentence for each log that was not sent, or that stands beside something that did not fail."""
    failures: tuple[Evaluation | Rejection, ...] = (*result.evaluations, *result.rejections)
    for one in failures:
        if one.log and one.status is Status.PASSED:
            yield f"{one.name} passed and has the log of a failure"
        elif one.log and f"{one.log}.log" not in result.artefacts:
            yield f"the log of {one.name} was not sent"


def _evaluations(job: KernelJob, evaluations: Sequence[Evaluation]) -> Iterator[str]:
    names: Mapping[Role, Collection[str]] = {
        Role.IMPLEMENTATION: {one.name for one in job.kernel.implementations},
        Role.BASELINE: set(job.kernel.baselines),
        Role.PROBE: PROBES,
    }
    yield from _listed_twice([f"{one.role} {one.name}" for one in evaluations], "evaluation")
    for one in evaluations:
        if one.name not in names[one.role]:
            yield f"`{one.name}` is no {one.role} of {job.kernel.name}"
        elif (one.workload, one.dtype, dict(one.params)) != (job.workload.name, job.dtype, dict(job.params)):
            yield f"{one.name} is of {one.workload}:{one.dtype}, and the job of {job.workload.name}:{job.dtype}"
        elif one.role is Role.IMPLEMENTATION:
            yield from _wrong_key(one.name, Key(one.key, one.key_parts), job.keys.get(one.name))


def _rejections(job: RejectJob, result: JobResult) -> Iterator[str]:
    expected = {wrong.implementation.name: wrong.fails for wrong in job.kernel.wrong}
    yield from _listed_twice([one.name for one in result.rejections], "rejection")
    for one in result.rejections:
        if expected.get(one.name) is not one.expected:
            yield f"`{one.name}` is no variant of {job.kernel.name} that must be {one.expected}"
        else:
            yield from _wrong_key(one.name, Key(one.key, one.key_parts), job.keys.get(one.name))


def _sweeps(job: SweepJob, sweeps: Sequence[MeasuredSweep]) -> Iterator[str]:
    """Yield what distinguishes a returned sweep from the one that was sent: its subject, its points or its key."""
    sweep = job.sweep
    sent = (sweep.name, sweep.implementation, sweep.workload, sweep.dtype, dict(job.params))
    yield from _listed_twice([one.name for one in sweeps], "sweep")
    for one in sweeps:
        if (one.name, one.implementation, one.workload, one.dtype, dict(one.params)) != sent:
            yield f"the sweep `{one.name}` of {one.implementation}@{one.workload}:{one.dtype} was not asked for"
        elif tuple(dict(point.values) for point in one.points) != tuple(map(dict, values_of_points(sweep))):
            yield f"the points of {one.name} are not those of the sweep that was sent"
        else:
            yield from _wrong_key(one.name, Key(one.key, one.key_parts), job.key)


def _cells(job: NotebookJob, cells: Sequence[CellResult]) -> Iterator[str]:
    keys = {cell.label: cell.key for cell in job.cells}
    yield from _listed_twice([cell.label for cell in cells], "cell")
    for cell in cells:
        if cell.label not in keys:
            yield f"`{cell.label}` is the label of no cell of {job.post}"
        elif cell.status not in list(Status):
            yield f"{cell.label}: `{cell.status[:60]}` is no status"
        else:
            yield from _wrong_key(cell.label, cell.key, keys[cell.label])


def _tools(job: InspectJob, result: JobResult) -> Iterator[str]:
    kernel = job.kernel
    names = {one.name for one in kernel.implementations} | {w.implementation.name for w in kernel.wrong}
    names_in_result = [*(one.name for one in result.counted), *(one.name for one in result.sanitized)]
    for name in names_in_result:
        if name not in names | set(kernel.baselines) | set(PROBES):
            yield f"`{name}` is nothing of {kernel.name}"


def _wrong_key(name: str, returned: Key, sent: Key | None) -> Iterator[str]:
    if sent is None or (returned.digest, dict(returned.parts)) != (sent.digest, dict(sent.parts)):
        yield f"the key of {name} is not that of the code that was sent"


def _listed_twice(names: Sequence[str], what: str) -> Iterator[str]:
    again = [name for index, name in enumerate(names) if name in names[:index]]
    if again:
        yield f"the {what} `{again[0]}` is there twice"
