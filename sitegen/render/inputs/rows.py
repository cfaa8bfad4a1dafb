"""A kernel and its record on one GPU → the rows that tables and charts show, in the order in which they are read.

A `Group` is one workload × dtype × params: the probe first, then the baselines, then ours as kernel.yaml lists them.
What has no evaluation yet is a row without one, so that a page says so instead of leaving it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sitegen.model.cost import Cost, cost_of
from sitegen.model.kernel import Kernel, Scalar, Workload
from sitegen.model.record import Counters, Evaluation, Performance, Record, Role, Run
from sitegen.render.inputs.evidence import FRESH, Evidence
from sitegen.results.figures import CACHE_FACTOR, CycleShare, Figures, WorkloadCeilings, figures, workload_ceilings
from sitegen.results.figures import run_of as run_of_evaluation
from sitegen.results.freshness import Freshness, FreshnessState
from sitegen.results.noise import noise_by_timing, timing_id
from sitegen.results.records import param_combinations


@dataclass(frozen=True, slots=True)
class Row:
    """An implementation, a baseline or a probe at one workload."""

    role: Role
    name: str
    evaluation: Evaluation | None = None
    """None: not measured yet."""
    freshness: Freshness = FRESH
    figures: Figures | None = None
    """None without a time."""
    predicted: float | None = None
    best: bool = False
    """The fastest of ours."""

    @property
    def performance(self) -> Performance | None:
        return self.evaluation.performance if self.evaluation else None

    @property
    def stale(self) -> str:
        """Why it is, in a few words; empty when it was made by today's code."""
        return (
            ", ".join(self.freshness.reasons) or "its code changed"
            if self.freshness.state is FreshnessState.STALE
            else ""
        )

    @property
    def outdated(self) -> str:
        """The newer version that another record was made with."""
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
        """`of` is `of-ceiling`, `of-copy` or `of-read`."""
        figures = self.figures
        if figures is None:
            return None
        return {"of-ceiling": figures.of_ceiling, "of-copy": figures.of_copy, "of-read": figures.of_read}[of]

    def predicted_share(self, of: str) -> float | None:
        """As `share`, of the time that was predicted; the author predicts a share of the ceiling."""
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
        """None where none were read, and where they counted wrongly what is known."""
        counters = self.evaluation.counters if self.evaluation else None
        return counters if counters and counters.valid else None

    def ratio(self, baseline: str) -> float | None:
        """The baseline's time over this one's, as it was measured round by round."""
        return self.figures.ratios.get(baseline) if self.figures else None


@dataclass(frozen=True, slots=True)
class Group:
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]
    cost: Cost
    limits: WorkloadCeilings
    """In the newest run that made a time of the group."""
    rows: tuple[Row, ...] = ()
    l2_bytes: int = 0
    """Of the GPU of that run."""
    noise: float | None = None
    """Standard deviation of a ratio between two runs of the same code; None where one process timed it."""

    @property
    def large(self) -> bool:
        """Whether the caches are too small to keep much of it from the memory."""
        return self.cost.bytes > CACHE_FACTOR * self.l2_bytes

    def reread(self, row: Row) -> float | None:
        """Bytes that the DRAM counted over the least that must move; None where they are not known."""
        return row.counters.dram_bytes / self.cost.bytes if row.counters and self.cost.bytes else None

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
        """Name and rate of the ceiling that binds: `memory 1:1`, `bf16`; an empty name when none was measured."""
        limits = self.limits
        return (limits.memory, limits.bytes_per_s) if self.bound_by_memory else (limits.compute, limits.flops_per_s)

    @property
    def yardstick(self) -> str:
        """The probe that moves most nearly what the kernel moves."""
        return yardstick(self.cost)

    @property
    def can_be_drawn(self) -> bool:
        """It has a ceiling and something below it."""
        return bool(self.ceiling[0]) and any(row.performance for row in self.rows)


def run_of(record: Record, evaluation: Evaluation | None) -> Run | None:
    """The run that made an evaluation; of None the newest one."""
    if evaluation is None:
        return max(record.runs, key=lambda run: run.id, default=None)
    return run_of_evaluation(record, evaluation)


def stale_of(evidence: Evidence, kernel: Kernel, record: Record) -> tuple[int, int]:
    """(stale, all) of our evaluations in a record."""
    ours = [e for e in record.evaluations if e.role is Role.IMPLEMENTATION]
    return sum(evidence.of_evaluation(kernel, record, e).state is FreshnessState.STALE for e in ours), len(ours)


def groups(kernel: Kernel, record: Record, evidence: Evidence) -> tuple[Group, ...]:
    """Everything of a record that the kernel still has, in the order of kernel.yaml."""
    return tuple(
        _Maker(kernel, record, evidence, workload, dtype, params).group()
        for workload in kernel.workloads
        for dtype in kernel.dtypes
        for params in param_combinations(kernel)
    )


def chosen(
    candidates: Iterable[Group],
    workloads: Collection[str] = (),
    dtypes: Collection[str] = (),
    implementations: Collection[str] = (),
) -> tuple[Group, ...]:
    """Return the rows that are named, or all where none is named.  The best is the best of what is shown."""
    return tuple(
        replace(group, rows=_with_best([r for r in group.rows if not r.ours or r.name in implementations]))
        if implementations
        else group
        for group in candidates
        if (not workloads or group.workload.name in workloads) and (not dtypes or group.dtype in dtypes)
    )


def headline(candidates: Iterable[Group]) -> Group | None:
    """The first group in which ours has a time, else the first."""
    shown = tuple(candidates)
    return next((group for group in shown if group.best), shown[0] if shown else None)


def newest_run(record: Record, group: Group) -> Run | None:
    """The newest of the runs that made the group's times, with the ceilings of the GPU that made them."""
    used = [run for row in group.rows if row.performance and (run := run_of(record, row.evaluation))]
    return max(used, key=lambda run: run.id, default=None)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the rows of one group."""

    kernel: Kernel
    record: Record
    evidence: Evidence
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
        """The largest of the runs that timed the rows."""
        quiet = noise_by_timing(self.record)
        known = (quiet.get(timing_id(row.evaluation)) for row in rows if row.evaluation)
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
        if made and (role, name) == (Role.PROBE, "read"):  # it has the reads of the workload and writes nothing
            made = replace(made, bytes_per_s=made.bytes_per_s * self.cost.read_share)
        return Row(role, name, evaluation, freshness, made, predicted)


def yardstick(cost: Cost) -> str:
    """`read` for what hardly writes, else `copy`."""
    return "read" if cost.read_share > 0.75 else "copy"


def _with_best(rows: list[Row]) -> tuple[Row, ...]:
    times = [row.performance.median_us for row in rows if row.ours and row.performance]
    best = min(times, default=0.0)
    return tuple(
        replace(row, best=row.ours and row.performance is not None and row.performance.median_us == best)
        for row in rows
    )
