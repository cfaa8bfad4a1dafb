"""Turn a kernel and its record on one GPU into the rows that tables and charts show, in reading order.

A `Group` is one workload × dtype × params: the probe first, then the baselines, then our implementations in the order
of kernel.yaml.  An implementation without an evaluation has a row as well, so that a page can say that it is not
measured yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sitegen.model.cost import Cost, cost_of
from sitegen.model.kernel import Kernel, Scalar, Workload
from sitegen.model.record import Counters, Evaluation, Performance, Record, Role, Run
from sitegen.render.inputs.evidence import FRESH, Evidence
from sitegen.results.figures import (
    CACHE_FACTOR,
    CycleShare,
    Figures,
    WorkloadCeilings,
    figures,
    reread,
    workload_ceilings,
)
from sitegen.results.figures import run_of as run_of_evaluation
from sitegen.results.freshness import Freshness, FreshnessState
from sitegen.results.noise import TimingId, noise_by_timing, timing_id
from sitegen.results.records import param_combinations


@dataclass(frozen=True, slots=True)
class Row:
    """An implementation, a baseline or a probe at one workload."""

    role: Role
    name: str
    evaluation: Evaluation | None = None
    """The evaluation; None when it is not measured yet."""
    freshness: Freshness = FRESH
    figures: Figures | None = None
    """The rates and ratios; None when there is no time."""
    predicted: float | None = None
    best: bool = False
    """Whether it is the fastest of our implementations."""

    @property
    def performance(self) -> Performance | None:
        return self.evaluation.performance if self.evaluation else None

    @property
    def stale(self) -> str:
        """The reason for which the result is stale, in a few words; empty for a result of the present code."""
        return (
            ", ".join(self.freshness.reasons) or "its code changed"
            if self.freshness.state is FreshnessState.STALE
            else ""
        )

    @property
    def outdated(self) -> str:
        """The newer software version with which another record was measured; empty when the result is not outdated."""
        return ", ".join(self.freshness.reasons) if self.freshness.state is FreshnessState.OUTDATED else ""

    @property
    def ours(self) -> bool:
        return self.role is Role.IMPLEMENTATION

    @property
    def failed(self) -> bool:
        return self.evaluation is not None and self.evaluation.status.failed

    @property
    def bytes_per_s(self) -> float:
        return self.figures.bytes_per_s if self.figures else 0.0

    @property
    def flops_per_s(self) -> float:
        return self.figures.flops_per_s if self.figures else 0.0

    def share(self, of: str) -> float | None:
        """Return the share of `of-ceiling`, `of-copy` or `of-read`."""
        figures = self.figures
        if figures is None:
            return None
        return {"of-ceiling": figures.of_ceiling, "of-copy": figures.of_copy, "of-read": figures.of_read}[of]

    def predicted_share(self, of: str) -> float | None:
        """Return `share` for the predicted time.  The author predicts a share of the ceiling."""
        share, of_ceiling = self.share(of), self.share("of-ceiling")
        if self.predicted is None or of == "of-ceiling":
            return self.predicted
        return self.predicted * share / of_ceiling if share and of_ceiling else None

    @property
    def in_cycles(self) -> CycleShare | None:
        """Share of the ceiling in SM cycles; None for a kernel that memory bounds, and in old records."""
        return self.figures.in_cycles if self.figures else None

    @property
    def of_sustained(self) -> CycleShare | None:
        """Share of the sustained ceiling in SM cycles."""
        return self.figures.of_sustained if self.figures else None

    @property
    def counters(self) -> Counters | None:
        """The counters; None when none were read, or when they missed a known count."""
        counters = self.evaluation.counters if self.evaluation else None
        return counters if counters and counters.valid else None

    def ratio(self, baseline: str) -> float | None:
        """Return the time of a baseline divided by this row's time, from ratios within rounds."""
        return self.figures.ratios.get(baseline) if self.figures else None


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one workload × dtype × params of a kernel on one GPU."""

    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]
    cost: Cost
    limits: WorkloadCeilings
    """The ceilings in the newest run that timed the group."""
    rows: tuple[Row, ...] = ()
    l2_bytes: int = 0
    """The size of the L2 of the GPU in that run, in bytes."""
    noise: float | None = None
    """The standard deviation of a ratio between two runs of the same code; None when only one process timed the group.
    """

    @property
    def large(self) -> bool:
        """Whether the caches are too small to serve much of the traffic."""
        return self.cost.bytes > CACHE_FACTOR * self.l2_bytes

    def reread(self, row: Row) -> float | None:
        """Return the counted DRAM bytes divided by the least bytes that must move; None where either is unknown."""
        return reread(row.counters, self.cost)

    @property
    def in_cycles(self) -> CycleShare | None:
        """Share of the ceiling in SM cycles of a row that has one: all rows then have theirs of the same ceiling."""
        return next((share for row in self.rows if (share := row.in_cycles)), None)

    @property
    def probe(self) -> Row | None:
        return next((row for row in self.rows if row.role is Role.PROBE), None)

    @property
    def best(self) -> Row | None:
        return next((row for row in self.rows if row.best), None)

    @property
    def bound_by_memory(self) -> bool:
        return self.limits.bound_by_memory(self.cost)

    @property
    def ceiling(self) -> tuple[str, float]:
        """The name and the rate of the ceiling that binds, such as `memory 1:1` or `bf16`; the name is empty when no
        ceiling was measured.
        """
        limits = self.limits
        return (limits.memory, limits.bytes_per_s) if self.bound_by_memory else (limits.compute, limits.flops_per_s)

    @property
    def yardstick(self) -> str:
        """The probe whose traffic is nearest to that of the kernel."""
        return yardstick(self.cost)

    @property
    def can_be_drawn(self) -> bool:
        """Whether the group has a ceiling and at least one time, so that a chart can show it."""
        return bool(self.ceiling[0]) and any(row.performance for row in self.rows)


def run_of(record: Record, evaluation: Evaluation | None) -> Run | None:
    """Return the run that made an evaluation; for None the newest run, other than one whose tools alone were stored."""
    if evaluation is None:
        made = {e.run for e in record.evaluations} | {r.run for r in record.rejections} | {s.run for s in record.sweeps}
        return max((run for run in record.runs if run.id in made), key=lambda run: run.id, default=None)
    return run_of_evaluation(record, evaluation)


def groups(kernel: Kernel, record: Record, evidence: Evidence) -> tuple[Group, ...]:
    """Return the groups of all workloads, dtypes and params of a kernel, in the order of kernel.yaml."""
    noise = noise_by_timing(record)
    return tuple(
        _Maker(kernel, record, evidence, noise, workload, dtype, params).group()
        for workload in kernel.workloads
        for dtype in kernel.dtypes
        for params in param_combinations(kernel)
    )


def select_groups(
    candidates: Iterable[Group],
    workloads: Collection[str] = (),
    dtypes: Collection[str] = (),
    rows: Collection[str] = (),
) -> tuple[Group, ...]:
    """Return the groups of the named workloads and dtypes with the named rows: implementations, baselines, the probe.

    An empty collection selects all; `best` is the best of the selected rows.  A group without a selected row is left
    out.
    """
    selected = (
        replace(group, rows=_with_best([row for row in group.rows if row.name in rows])) if rows else group
        for group in candidates
        if (not workloads or group.workload.name in workloads) and (not dtypes or group.dtype in dtypes)
    )
    return tuple(group for group in selected if group.rows)


def headline(candidates: Iterable[Group]) -> Group | None:
    """Return the first group in which one of our implementations has a time, else the first group."""
    shown = tuple(candidates)
    return next((group for group in shown if group.best), shown[0] if shown else None)


def headlines(candidates: Iterable[Group]) -> tuple[Group, ...]:
    """Return the headline of each dtype, in the order in which the dtypes stand."""
    by_dtype: dict[str, list[Group]] = {}
    for group in candidates:
        by_dtype.setdefault(group.dtype, []).append(group)
    return tuple(found for alike in by_dtype.values() if (found := headline(alike)))


def newest_run(record: Record, group: Group) -> Run | None:
    """Return the newest of the runs that timed the group, with the ceilings of the GPU that made its times."""
    used = [run for row in group.rows if row.performance and (run := run_of(record, row.evaluation))]
    return max(used, key=lambda run: run.id, default=None)


@dataclass(frozen=True, slots=True)
class _Maker:
    """A builder of the rows of one group."""

    kernel: Kernel
    record: Record
    evidence: Evidence
    noise_by_timing: Mapping[TimingId, float]
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]

    def group(self) -> Group:
        probe = yardstick(self.cost)
        rows = [self.row(Role.PROBE, probe)] if self.find(Role.PROBE, probe) else []
        rows += [self.row(Role.BASELINE, name) for name in self.kernel.baselines]
        ours = [
            self.row(Role.IMPLEMENTATION, one.name, one.predicted_of_ceiling)
            for one in self.kernel.implementations
            if not one.dtypes or self.dtype in one.dtypes
        ]
        made = Group(self.workload, self.dtype, self.params, self.cost, WorkloadCeilings(), _with_best([*rows, *ours]))
        run = newest_run(self.record, made)
        if run is None:
            return made
        limits = workload_ceilings(self.kernel, self.record, run, self.cost, self.dtype)
        return replace(made, limits=limits, l2_bytes=run.environment.l2_bytes, noise=self.noise(made.rows))

    def noise(self, rows: Iterable[Row]) -> float | None:
        """Return the largest noise among the runs that timed the rows."""
        known = (self.noise_by_timing.get(timing_id(row.evaluation)) for row in rows if row.evaluation)
        return max((noise for noise in known if noise is not None), default=None)

    @property
    def cost(self) -> Cost:
        return cost_of(self.kernel, self.workload, self.dtype, self.params)

    def find(self, role: Role, name: str) -> Evaluation | None:
        wanted = (role, name, self.workload.name, self.dtype)
        same = [e for e in self.record.evaluations if (e.role, e.name, e.workload, e.dtype) == wanted]
        return next((e for e in same if all(e.params.get(k, v) == v for k, v in self.params.items())), None)

    def row(self, role: Role, name: str, predicted: float | None = None) -> Row:
        evaluation = self.find(role, name)
        if evaluation is None or evaluation.performance is None:
            return Row(role, name, evaluation, predicted=predicted)
        freshness = self.evidence.of_evaluation(self.kernel, self.record, evaluation)
        made = figures(self.kernel, self.record, evaluation)
        if made and (role, name) == (Role.PROBE, "read"):  # the probe makes only the reads of the workload
            made = replace(made, bytes_per_s=made.bytes_per_s * self.cost.read_share)
        return Row(role, name, evaluation, freshness, made, predicted)


def yardstick(cost: Cost) -> str:
    """Return `read` for a kernel whose traffic is more than 75 % reads, else `copy`."""
    return "read" if cost.read_share > 0.75 else "copy"


def _with_best(rows: list[Row]) -> tuple[Row, ...]:
    times = [row.performance.median_us for row in rows if row.ours and row.performance]
    best = min(times, default=0.0)
    return tuple(
        replace(row, best=row.ours and row.performance is not None and row.performance.median_us == best)
        for row in rows
    )
