"""Turn the title of a recorded evaluation into a job that measures it again, and the result into a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.diagnostics import did_you_mean
from sitegen.execute.plan import Inventory, UnknownName
from sitegen.model.job import CeilingsJob, JobResult, KernelJob
from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.site import Site
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.compare import EvaluationComparison, compare_records
from sitegen.results.keys import implementation_key, sources_of
from sitegen.results.records import Records, cell_name
from sitegen.results.same_code import is_same_key


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded evaluation with the job that measures it again."""

    title: str
    """`softmax/fused@8192x8192:float32`."""
    record: Record
    job: KernelJob
    """The job of this implementation and one baseline; its id is the title."""
    is_same_code: bool
    """False when today's code, launch or checks are others than those of the record."""


def replay_of(inventory: Inventory, gpu: str, title: str) -> Replay:
    """Return the replay of an evaluation that a GPU has recorded.  Raises UnknownName, which says why there is none."""
    site = inventory.site
    kernel = _kernel(site, title)
    record = inventory.records.kernels.get((kernel.name, gpu))
    if record is None:
        known = ", ".join(sorted(inventory.records.of_kernel(kernel.name))) or "no GPU"
        raise UnknownName(
            f"{kernel.name} has records of {known}, and this GPU is {gpu}: `sitegen run {kernel.name}` makes its first"
        )
    one = _evaluation(kernel, record, title)
    job = _job(site, kernel, one, title)
    same = is_same_key(job.keys[one.name], one.key, one.key_parts, inventory.records.same_code)
    return Replay(title, record, job, same)


def compare_replays(
    site: Site, replays: Sequence[Replay], run: str, results: Sequence[JobResult]
) -> Mapping[str, EvaluationComparison]:
    """Return the comparison of each record with its replay, by title; without those whose job has no result.

    `results` also has the ceilings of the GPU; `run` is the start of the run: `2026-11-21T06:10:05Z`.
    """
    new = accept_results(site, Records(), RunHeader(run, ""), results)
    measured = {record.kernel: record for record in new.records} if new else {}
    before = {replay.record.kernel: replay.record for replay in replays}
    rows = [row for name, record in measured.items() for row in compare_records(site, before[name], record)]
    done = {result.id for result in results if not result.error}
    return {row.title: row for row in rows if row.title in done}


def replay_jobs(replays: Sequence[Replay]) -> tuple[CeilingsJob | KernelJob, ...]:
    """Return the jobs of a run of several replays, ceilings first."""
    return (CeilingsJob(), *(replay.job for replay in replays))


def _kernel(site: Site, title: str) -> Kernel:
    name, names = title.partition("/")[0], [kernel.name for kernel in site.kernels]
    if name not in names:
        hint = did_you_mean(name, names)
        raise UnknownName(f"the site has no kernel `{name}`" + (f"; {hint}" if hint else ""))
    return site.kernels[names.index(name)]


def _evaluation(kernel: Kernel, record: Record, title: str) -> Evaluation:
    """Return the evaluation with a title; only one of our implementations that has a time can be compared."""
    ours = {_title(kernel, one): one for one in record.evaluations if one.role is Role.IMPLEMENTATION}
    one = ours.get(title)
    if one is None:
        hint = did_you_mean(title, ours)
        raise UnknownName(f"no implementation is recorded as `{title}` on {record.gpu}" + (f"; {hint}" if hint else ""))
    if one.performance is None:
        raise UnknownName(f"`{title}` has no time to compare: its record says {one.status.words}")
    return one


def _title(kernel: Kernel, one: Evaluation) -> str:
    return f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)}"


def _job(site: Site, kernel: Kernel, one: Evaluation, title: str) -> KernelJob:
    made = next(i for i in kernel.implementations if i.name == one.name)
    workload = next(w for w in kernel.workloads if w.name == one.workload)
    return KernelJob(
        id=title,
        kernel=replace(
            kernel, implementations=(made,), baselines=_baseline(kernel, one), wrong=(), goals=(), sweeps=()
        ),
        workload=workload,
        dtype=one.dtype,
        sources=sources_of(kernel, [made], site.files),
        keys={one.name: implementation_key(kernel, made, workload, one.dtype, one.params, site.files)},
        params=one.params,
    )


def _baseline(kernel: Kernel, one: Evaluation) -> tuple[str, ...]:
    """Return the first baseline to which the record has a ratio, with which `compare_records` decides."""
    recorded = {ratio.baseline for ratio in one.performance.ratios} if one.performance else set()
    return tuple(name for name in kernel.baselines if name in recorded)[:1]
