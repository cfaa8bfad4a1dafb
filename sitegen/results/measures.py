"""A kernel's formulas and a record → figures: bandwidth, of-ceiling, of-copy, of-read, and whether goals are met.

Nothing of this is stored: a corrected formula corrects every figure, also of old records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Generic, TypeVar

from sitegen.model.cost import Cost, cost_of
from sitegen.model.formula import FormulaError
from sitegen.model.kernel import Goal, Kernel
from sitegen.model.record import Ceiling, Evaluation, Record, Role, Run
from sitegen.results.noise import AA_NOISE, noises, timing_of
from sitegen.results.records import cell_name

T = TypeVar("T")

COMPUTE = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "bf16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
}
"""The arithmetic ceiling of a dtype; tensor cores run float16 and bfloat16 at one rate."""
MARGIN = 0.02
"""How far above every measured ceiling a figure may stand before it is an error of ours; more where the noise is."""
CACHE_MARGIN = 1.5
"""The same above the L2 ceiling, of workloads that fit in it: a part of what they reread may come from L1."""
LEAST_US = 0.1
"""An empty kernel in a CUDA graph takes 0.5 to 1 µs from one launch to the next."""
CACHE_FACTOR = 4
"""A workload below this many times the L2 may leave lines in it: its rate says nothing of the memory."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The ceilings that hold for one workload and dtype in one run: name and rate, rate 0 when not measured."""

    memory: str = ""
    bytes_per_s: float = 0.0
    compute: str = ""
    flops_per_s: float = 0.0

    def floor_us(self, cost: Cost) -> float:
        """The least time; 0 when no ceiling was measured."""
        return max(self.memory_us(cost), self.compute_us(cost))

    def memory_us(self, cost: Cost) -> float:
        return cost.bytes / self.bytes_per_s * 1e6 if self.bytes_per_s else 0.0

    def compute_us(self, cost: Cost) -> float:
        return cost.flops / self.flops_per_s * 1e6 if self.flops_per_s else 0.0

    def bound_by_memory(self, cost: Cost) -> bool:
        return self.memory_us(cost) >= self.compute_us(cost)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a timed evaluation comes to; None where a ceiling or a probe was not measured."""

    bytes_per_s: float
    flops_per_s: float
    of_ceiling: float | None
    of_copy: float | None
    of_read: float | None
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline and probe."""


class GoalState(StrEnum):
    MET = "met"
    MISSED = "missed"
    UNKNOWN = "unknown"
    """Nothing was measured that could tell."""


@dataclass(frozen=True, slots=True)
class GoalResult:
    goal: Goal
    state: GoalState
    value: float | None = None
    name: str = ""
    """The implementation that has the value."""


def cost_of_evaluation(kernel: Kernel, evaluation: Evaluation) -> Cost | None:
    """None when the kernel no longer has its workload, or when the params of the evaluation are no numbers.

    A param that is newer than the evaluation has its first value.
    """
    workload = next((w for w in kernel.workloads if w.name == evaluation.workload), None)
    params = {**{name: values[0] for name, values in kernel.params.items()}, **evaluation.params}
    try:
        return cost_of(kernel, workload, evaluation.dtype, params) if workload else None
    except FormulaError:
        return None


def limits_of(kernel: Kernel, record: Record, run: Run, cost: Cost, dtype: str) -> Limits:
    """The larger of the run's probes and of the best that passed in it: of that mix of reads and writes for memory, of
    that dtype for arithmetic.
    """
    probed = probed_limits(run, cost, dtype)
    best = _best_rates(_Same(kernel), _Same(record), _Same(run))
    return replace(
        probed,
        bytes_per_s=max(probed.bytes_per_s, best.get(probed.memory, 0.0)),
        flops_per_s=max(probed.flops_per_s, best.get(probed.compute, 0.0)),
    )


def probed_limits(run: Run, cost: Cost, dtype: str) -> Limits:
    """By the run's probes alone: nothing of the kernel is in them."""
    memory = nearest_mix(run.ceilings, cost.read_share)
    compute = next((c for c in run.ceilings if c.name == COMPUTE.get(dtype)), None)
    return Limits(
        memory.name if memory else "",
        memory.rate if memory else 0.0,
        compute.name if compute else "",
        compute.rate if compute else 0.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Same(Generic[T]):
    """A value that is equal to itself only: records do not change, and are too large to be compared."""

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=64)
def _best_rates(kernel: _Same[Kernel], record: _Same[Record], run: _Same[Run]) -> Mapping[str, float]:
    """The best rate of what passed in a run, by the name of its ceiling.  Remembered, since every figure of a page asks
    for it, and each would go through the whole record.
    """
    best: dict[str, float] = {}
    for evaluation, cost in _timed(kernel.value, record.value, run.value):
        limits, seconds = probed_limits(run.value, cost, evaluation.dtype), _seconds(evaluation)
        rates = {limits.compute: cost.flops / seconds}
        if not _fits_cache(cost, run.value):
            rates[limits.memory] = cost.bytes / seconds
        best |= {name: max(rate, best.get(name, 0.0)) for name, rate in rates.items() if name}
    for name, rate in _probe_rates(kernel.value, record.value, run.value):
        best[name] = max(rate, best.get(name, 0.0))
    return best


def _probe_rates(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[str, float]]:
    """The rows `copy` and `read` move the bytes of their workload, or those that it reads: (ceiling, rate)."""
    for evaluation in record.evaluations:
        if evaluation.role is not Role.PROBE or evaluation.run != run.id or not evaluation.performance:
            continue
        if cost := cost_of_evaluation(kernel, evaluation):
            reads_only = evaluation.name == "read"
            moved = cost.read_bytes if reads_only else cost.bytes
            if moved >= CACHE_FACTOR * run.environment.l2_bytes:
                yield "memory 1:0" if reads_only else "memory 1:1", moved / _seconds(evaluation)


def nearest_mix(ceilings: Iterable[Ceiling], read_share: float) -> Ceiling | None:
    """The memory ceiling whose reads : writes are nearest; None when no memory ceiling was measured."""
    mixes = [c for c in ceilings if _is_memory(c)]
    return min(mixes, key=lambda c: abs(_read_share(c.name) - read_share), default=None)


def figures(kernel: Kernel, record: Record, evaluation: Evaluation) -> Figures | None:
    """None when the evaluation has no time, or the kernel no longer has its workload."""
    timed = evaluation.performance
    cost = cost_of_evaluation(kernel, evaluation)
    run = run_of(record, evaluation)
    if timed is None or cost is None or run is None:
        return None
    floor = limits_of(kernel, record, run, cost, evaluation.dtype).floor_us(cost)
    ratios = {ratio.baseline: ratio.value for ratio in timed.ratios}
    return Figures(
        bytes_per_s=cost.bytes / _seconds(evaluation),
        flops_per_s=cost.flops / _seconds(evaluation),
        of_ceiling=floor / timed.median_us if floor else None,
        of_copy=ratios.get("copy"),
        of_read=ratios.get("read"),
        ratios=ratios,
    )


def run_of(record: Record, evaluation: Evaluation) -> Run | None:
    return next((run for run in record.runs if run.id == evaluation.run), None)


def goal_results(kernel: Kernel, record: Record | None) -> tuple[GoalResult, ...]:
    """Each goal of kernel.yaml against the record; with several params the worst of them counts."""
    return tuple(_goal_result(kernel, record, goal) for goal in kernel.goals)


def implausible(kernel: Kernel, record: Record, run: Run) -> Iterator[str]:
    """Figures of a run beyond what the GPU can do: units, bytes or the cache are wrong, and the run with them."""
    return (sentence for _, sentence in beyond(kernel, record, run))


def beyond(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[int, str]]:
    """Yield the index of each evaluation of a run that is faster than its GPU can be, and a sentence about it."""
    highest = max((c.rate for c in run.ceilings if _is_memory(c)), default=0.0)
    cache = max((c.rate for c in run.ceilings if c.name == "L2"), default=0.0)
    places = {id(evaluation): index for index, evaluation in enumerate(record.evaluations)}
    for evaluation, cost in _timed(kernel, record, run):
        roof = probed_limits(run, cost, evaluation.dtype).flops_per_s
        seconds = _seconds(evaluation)
        rate, flops = cost.bytes / seconds, cost.flops / seconds
        if max(rate / (highest or rate), flops / (roof or math.inf)) <= 1 + MARGIN and seconds * 1e6 >= LEAST_US:
            continue  # nearly all of them: the noise need not be known
        above = 1 + max(MARGIN, 4 * noises(record).get(timing_of(evaluation), AA_NOISE))
        cell = cell_name(evaluation.workload, evaluation.dtype, evaluation.params, kernel)
        title, index = f"{kernel.name}/{evaluation.name}@{cell}", places[id(evaluation)]
        if _fits_cache(cost, run):
            if cache and rate > cache * CACHE_MARGIN:
                yield index, f"{title}: {rate / 1e12:.2f} TB/s, above the L2 ceiling ({cache / 1e12:.2f} TB/s)"
        elif highest and rate > highest * above:
            yield index, f"{title}: {rate / 1e12:.2f} TB/s, above every memory ceiling ({highest / 1e12:.2f} TB/s)"
        if roof and flops > roof * above:
            yield index, f"{title}: {flops / 1e12:.1f} TFLOP/s, above the roof of its dtype ({roof / 1e12:.1f} TFLOP/s)"
        if seconds * 1e6 < LEAST_US:
            yield index, f"{title}: {seconds * 1e9:.3g} ns a call; no launch takes less than {LEAST_US * 1e3:.0f} ns"


def _timed(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[Evaluation, Cost]]:
    """What a run timed of this kernel.  The probes have the bytes of the workload, but not its operations."""
    for evaluation in record.evaluations:
        cost = cost_of_evaluation(kernel, evaluation)
        if evaluation.run == run.id and evaluation.performance and cost and evaluation.role is not Role.PROBE:
            yield evaluation, cost


def _fits_cache(cost: Cost, run: Run) -> bool:
    return cost.bytes < CACHE_FACTOR * run.environment.l2_bytes


def _seconds(evaluation: Evaluation) -> float:
    return evaluation.performance.median_us / 1e6 if evaluation.performance else float("inf")


def _is_memory(ceiling: Ceiling) -> bool:
    """The L2 and the shared memory have a rate too, and are no mix of reads and writes."""
    return ceiling.name.startswith("memory ")


def _read_share(mix: str) -> float:
    reads, _, writes = mix.removeprefix("memory ").partition(":")
    return int(reads) / (int(reads) + int(writes))


def _goal_result(kernel: Kernel, record: Record | None, goal: Goal) -> GoalResult:
    by_params: dict[str, list[tuple[float, str]]] = {}
    for evaluation in record.evaluations if record else ():
        if record and _is_subject(goal, evaluation):
            value = _value(goal.unit, figures(kernel, record, evaluation))
            if value is not None:
                by_params.setdefault(str(sorted(evaluation.params.items())), []).append((value, evaluation.name))
    if not by_params:
        return GoalResult(goal, GoalState.UNKNOWN)
    value, name = min(max(found) for found in by_params.values())
    return GoalResult(goal, GoalState.MET if value >= goal.at_least else GoalState.MISSED, value, name)


def _is_subject(goal: Goal, evaluation: Evaluation) -> bool:
    return (
        evaluation.role is Role.IMPLEMENTATION
        and goal.subject in ("best", evaluation.name)
        and (evaluation.workload, evaluation.dtype) == (goal.workload, goal.dtype)
    )


def _value(unit: str, found: Figures | None) -> float | None:
    if found is None:
        return None
    known = {"of-ceiling": found.of_ceiling, "of-copy": found.of_copy, "of-read": found.of_read}
    return known[unit] if unit in known else found.ratios.get(unit.removeprefix("x").strip())
