"""A kernel and its record on one GPU → the rows that tables and charts show, in the order in which they are read.

A `Group` is one workload × dtype × params: the probe first, then the baselines, then ours as kernel.yaml lists them.
What has no evaluation yet is a row without one, so that a page says so instead of leaving it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sitegen.model.kernel import Kernel, Scalar, Workload
from sitegen.model.record import Evaluation, Performance, Record, Role, Run
from sitegen.render.costs import Cost, Limit, cost_of, limit_of
from sitegen.render.evidence import FRESH, Evidence
from sitegen.results.freshness import Freshness, State
from sitegen.results.records import swept


@dataclass(frozen=True, slots=True)
class Row:
    """An implementation, a baseline or a probe at one workload."""

    role: Role
    name: str
    evaluation: Evaluation | None = None
    """None: not measured yet."""
    freshness: Freshness = FRESH
    bytes_per_s: float = 0.0
    """Least bytes over the time; 0 without a time."""
    flops_per_s: float = 0.0
    of_ceiling: float | None = None
    of_probes: Mapping[str, float] = field(default_factory=dict)
    """The time of each probe, `copy` and `read`, over this one's."""
    predicted: float | None = None
    best: bool = False
    """The fastest of ours."""

    @property
    def performance(self) -> Performance | None:
        return self.evaluation.performance if self.evaluation else None

    @property
    def stale(self) -> str:
        """Why it is, in a few words; empty when it was made by today's code."""
        return ", ".join(self.freshness.reasons) or "its code changed" if self.freshness.state is State.STALE else ""

    @property
    def outdated(self) -> str:
        """Which newer version another record was made with."""
        return ", ".join(self.freshness.reasons) if self.freshness.state is State.OUTDATED else ""

    @property
    def ours(self) -> bool:
        return self.role is Role.IMPLEMENTATION

    @property
    def failed(self) -> bool:
        return self.evaluation is not None and self.evaluation.status.failed

    def ratio(self, other: str) -> float | None:
        """The time of a baseline over this one's, as it was measured round by round."""
        found = [r.value for r in self.performance.ratios if r.baseline == other] if self.performance else []
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Group:
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]
    cost: Cost
    limit: Limit | None
    """In the newest run; None when it measured no ceiling."""
    rows: tuple[Row, ...] = ()

    @property
    def probe(self) -> Row | None:
        return next((row for row in self.rows if row.role is Role.PROBE), None)

    @property
    def best(self) -> Row | None:
        return next((row for row in self.rows if row.best), None)

    @property
    def bound_by_memory(self) -> bool:
        return self.limit is None or self.limit.is_memory

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.cost.flops / self.cost.bytes if self.cost.bytes else 0.0

    @property
    def can_be_drawn(self) -> bool:
        """It has a limit and something below it."""
        return self.limit is not None and any(row.performance for row in self.rows)


def run_of(record: Record, evaluation: Evaluation | None) -> Run | None:
    """The run that made an evaluation; of None the newest one."""
    if evaluation is None:
        return max(record.runs, key=lambda run: run.id, default=None)
    return next((run for run in record.runs if run.id == evaluation.run), None)


def stale_of(evidence: Evidence, kernel: Kernel, record: Record) -> tuple[int, int]:
    """(stale, all) of our evaluations in a record."""
    ours = [e for e in record.evaluations if e.role is Role.IMPLEMENTATION]
    return sum(evidence.of_evaluation(kernel, record, e).state is State.STALE for e in ours), len(ours)


def groups(
    kernel: Kernel,
    record: Record,
    evidence: Evidence,
    *,
    workloads: Collection[str] = (),
    dtypes: Collection[str] = (),
    implementations: Collection[str] = (),
) -> tuple[Group, ...]:
    """All of the kernel, or what is named; in the order of kernel.yaml."""
    wanted = [w for w in kernel.workloads if not workloads or w.name in workloads]
    kinds = [d for d in kernel.dtypes if not dtypes or d in dtypes]
    found = [_Maker(kernel, record, evidence, w, d, p) for w in wanted for d in kinds for p in swept(kernel)]
    return tuple(maker.group(implementations) for maker in found)


def headline(found: Iterable[Group]) -> Group | None:
    """The first group in which ours has a time, else the first."""
    shown = tuple(found)
    return next((group for group in shown if group.best), shown[0] if shown else None)


def newest_run(record: Record, group: Group) -> Run | None:
    """The newest of the runs that made the group's times."""
    used = {row.evaluation.run for row in group.rows if row.evaluation and row.performance}
    return max((run for run in record.runs if run.id in used), key=lambda run: run.id, default=None)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the rows of one group."""

    kernel: Kernel
    record: Record
    evidence: Evidence
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]

    def group(self, implementations: Collection[str]) -> Group:
        cost = self.cost
        rows = [self.row(Role.PROBE, cost.yardstick)] if self.find(Role.PROBE, cost.yardstick) else []
        rows += [self.row(Role.BASELINE, name) for name in self.kernel.baselines]
        ours = [
            self.row(Role.IMPLEMENTATION, one.name, one.predicted_of_ceiling)
            for one in self.kernel.implementations
            if (not implementations or one.name in implementations) and (not one.dtypes or self.dtype in one.dtypes)
        ]
        made = Group(self.workload, self.dtype, self.params, cost, None, (*rows, *_with_best(ours)))
        run = newest_run(self.record, made)
        return replace(made, limit=limit_of(cost, self.dtype, run.ceilings) if run else None)

    @property
    def cost(self) -> Cost:
        return cost_of(self.kernel, self.workload, self.dtype, self.params)

    def find(self, role: Role, name: str) -> Evaluation | None:
        wanted = (role, name, self.workload.name, self.dtype)
        same = [e for e in self.record.evaluations if (e.role, e.name, e.workload, e.dtype) == wanted]
        return next((e for e in same if all(e.params.get(k, v) == v for k, v in self.params.items())), None)

    def row(self, role: Role, name: str, predicted: float | None = None) -> Row:
        found = self.find(role, name)
        if found is None or found.performance is None:
            return Row(role, name, found, predicted=predicted)
        cost, run, time_us = self.cost, run_of(self.record, found), found.performance.median_us
        moved = cost.reads if (role, name) == (Role.PROBE, "read") else cost.bytes  # the read probe writes nothing
        limit = limit_of(cost, self.dtype, run.ceilings) if run else None
        return Row(
            role,
            name,
            found,
            freshness=self.evidence.of_evaluation(self.kernel, self.record, found),
            bytes_per_s=moved / time_us * 1e6,
            flops_per_s=cost.flops / time_us * 1e6,
            of_ceiling=limit.floor_us / time_us if limit else None,
            of_probes=self.of_probes(found, found.performance),
            predicted=predicted,
        )

    def of_probes(self, found: Evaluation, timed: Performance) -> dict[str, float]:
        """From the rounds where they were compared, else from the medians of the same run."""
        shares = {}
        for name in ("copy", "read"):
            probe = self.find(Role.PROBE, name)
            rounds = [ratio.value for ratio in timed.ratios if ratio.baseline == name]
            if rounds:
                shares[name] = rounds[0]
            elif probe and probe.performance and probe.run == found.run:
                shares[name] = probe.performance.median_us / timed.median_us
        return shares


def _with_best(rows: list[Row]) -> list[Row]:
    times = [row.performance.median_us for row in rows if row.performance]
    best = min(times, default=0.0)
    return [replace(row, best=bool(row.performance and row.performance.median_us == best)) for row in rows]
