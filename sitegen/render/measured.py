"""A kernel and its record on one GPU → the rows that tables and charts show, in the order in which they are read.

A `Group` is one workload × dtype × params: the probe first, then the baselines, then ours as kernel.yaml lists them.
What has no evaluation yet is a row without a status, so that a page says so instead of leaving it out.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.kernel import Kernel, Scalar, Workload
from sitegen.model.record import Ceiling, Evaluation, Performance, Record, Role, Run
from sitegen.render.evidence import FRESH, Evidence
from sitegen.results.freshness import Freshness, State


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
    of_probe: float | None = None
    """The probe's time over this one's."""
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

    def ratio(self, baseline: str) -> float | None:
        found = [r.value for r in self.performance.ratios if r.baseline == baseline] if self.performance else []
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Group:
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]
    least_bytes: Number
    flops: Number
    ceiling_name: str
    """`memory 1:1`, or `bf16` when arithmetic is the limit; empty when no ceiling was measured."""
    ceiling_rate: float
    rows: tuple[Row, ...] = field(default_factory=tuple)

    @property
    def probe(self) -> Row | None:
        return next((row for row in self.rows if row.role is Role.PROBE), None)

    @property
    def best(self) -> Row | None:
        return next((row for row in self.rows if row.best), None)

    @property
    def bound_by_memory(self) -> bool:
        return not self.ceiling_name or self.ceiling_name.startswith("memory")

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flops / self.least_bytes if self.least_bytes else 0.0


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
    swept = [dict(zip(kernel.params, values, strict=True)) for values in itertools.product(*kernel.params.values())]
    wanted = [w for w in kernel.workloads if not workloads or w.name in workloads]
    kinds = [d for d in kernel.dtypes if not dtypes or d in dtypes]
    names = [i.name for i in kernel.implementations if not implementations or i.name in implementations]
    return tuple(
        _group(kernel, record, evidence, workload, dtype, params, names)
        for workload in wanted
        for dtype in kinds
        for params in swept
    )


def _group(
    kernel: Kernel,
    record: Record,
    evidence: Evidence,
    workload: Workload,
    dtype: str,
    params: Mapping[str, Scalar],
    implementations: Collection[str],
) -> Group:
    here = [
        e
        for e in record.evaluations
        if (e.workload, e.dtype) == (workload.name, dtype) and all(e.params.get(k, v) == v for k, v in params.items())
    ]
    cost = _Cost.of(kernel, workload, dtype, params)
    newest = max((e.run for e in here if e.performance), default="")
    ceiling, rate = cost.ceiling(next((run for run in record.runs if run.id == newest), None), dtype)
    probe = next((e for e in here if e.role is Role.PROBE and e.performance), None)

    def row(role: Role, name: str, predicted: float | None = None) -> Row:
        found = next((e for e in here if (e.role, e.name) == (role, name)), None)
        if found is None or found.performance is None:
            return Row(role, name, found, predicted=predicted)
        seconds = found.performance.median_us / 1e6
        return Row(
            role,
            name,
            found,
            freshness=evidence.of_evaluation(kernel, record, found),
            bytes_per_s=cost.bytes / seconds,
            flops_per_s=cost.flops / seconds,
            of_ceiling=(cost.floor_s(ceiling, rate) / seconds) if rate else None,
            of_probe=probe.performance.median_us / found.performance.median_us if probe and probe.performance else None,
            predicted=predicted,
        )

    probes = [row(Role.PROBE, name) for name in sorted({e.name for e in here if e.role is Role.PROBE})]
    baselines = [row(Role.BASELINE, name) for name in kernel.baselines]
    ours = [
        row(Role.IMPLEMENTATION, i.name, i.predicted_of_ceiling)
        for i in kernel.implementations
        if i.name in implementations and (not i.dtypes or dtype in i.dtypes)
    ]
    rows = (*probes, *baselines, *_with_best(ours))
    return Group(workload, dtype, params, cost.bytes, cost.flops, ceiling, rate, rows)


def _with_best(rows: list[Row]) -> list[Row]:
    timed = [row for row in rows if row.performance]
    best = min(timed, key=lambda row: row.performance.median_us if row.performance else 0.0, default=None)
    return [replace(row, best=True) if row is best else row for row in rows]


@dataclass(frozen=True, slots=True)
class _Cost:
    """The least that a workload takes: bytes read and written, operations."""

    reads: Number
    writes: Number
    flops: Number

    @classmethod
    def of(cls, kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar]) -> _Cost:
        numbers = {k: v for k, v in params.items() if isinstance(v, int | float)}
        names: dict[str, Number] = {**workload.dims, **numbers, "itemsize": DTYPES[dtype].itemsize}
        return cls(evaluate(kernel.reads, names), evaluate(kernel.writes, names), evaluate(kernel.flops, names))

    @property
    def bytes(self) -> Number:
        return self.reads + self.writes

    def ceiling(self, run: Run | None, dtype: str) -> tuple[str, float]:
        """The limit that binds: its name and rate; nothing without a run that measured one."""
        memory = self._memory(run)
        if memory is None or run is None:
            return "", 0.0
        compute = next((c for c in run.ceilings if c.name == COMPUTE.get(dtype)), None)
        if compute and self.flops / compute.rate > self.bytes / memory.rate:
            return compute.name, compute.rate
        return memory.name, memory.rate

    def _memory(self, run: Run | None) -> Ceiling | None:
        """The measured ceiling of the nearest mix of reads and writes."""
        mixes = [c for c in run.ceilings if c.name.startswith("memory ")] if run else []
        share = self.reads / self.bytes if self.bytes else 0.5
        return min(mixes, key=lambda c: abs(_read_share(c.name) - share), default=None)

    def floor_s(self, ceiling: str, rate: float) -> float:
        return (self.bytes if ceiling.startswith("memory") else self.flops) / rate


COMPUTE = {"float32": "fp32", "bfloat16": "bf16", "float16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}
"""The arithmetic ceiling of a dtype."""


def _read_share(mix: str) -> float:
    reads, writes = mix.removeprefix("memory ").split(":")
    return int(reads) / (int(reads) + int(writes))
