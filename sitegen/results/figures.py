"""Compute figures from a kernel's formulas and a record: bandwidth, of-ceiling, of-copy, of-read, re-read.

Figures are not stored, so that a corrected formula corrects every figure, also of old records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sitegen.model.cost import Cost, cost_of
from sitegen.model.formula import FormulaError
from sitegen.model.kernel import Kernel
from sitegen.model.record import (
    Ceiling,
    Counters,
    CycleRate,
    Evaluation,
    MeasuredSweep,
    Performance,
    Record,
    Role,
    Run,
    SweepPoint,
)
from sitegen.model.sweep_points import evaluation_at, workload_at
from sitegen.results.noise import AA_NOISE, noise_by_timing, timing_id
from sitegen.results.records import cell_name
from sitegen.results.run_gpus import made_on, run_on, runs_on_each
from sitegen.results.same_object import SameObject

COMPUTE = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "bf16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
}
"""Name of the arithmetic ceiling of each dtype; tensor cores run float16 and bfloat16 at one rate."""
MARGIN = 0.02
"""Largest relative distance of a rate above every measured ceiling; more where the noise is larger."""
CACHE_MARGIN = 1.5
"""Largest rate over the L2 ceiling of a workload that fits in the L2: a part of what it rereads may come from L1."""
LEAST_US = 0.1
"""Least time of a call: an empty kernel in a CUDA graph takes 0.5 to 1 µs from one launch to the next."""
CACHE_FACTOR = 4
"""Least traffic, in sizes of the L2, of a workload whose rate is that of the memory; a smaller one may stay in L2."""


@dataclass(frozen=True, slots=True)
class WorkloadCeilings:
    """The memory and arithmetic ceilings of one workload and dtype in one run; a rate is 0 when not measured."""

    memory: str = ""
    bytes_per_s: float = 0.0
    compute: str = ""
    flops_per_s: float = 0.0
    burst: CycleRate | None = None
    """Operations per SM cycle in bursts; None in records that have times only."""
    sustained: CycleRate | None = None
    """Operations per SM cycle under sustained load."""

    def floor_us(self, cost: Cost) -> float:
        """Return the least time of a call; 0 when no ceiling was measured."""
        return max(self.memory_us(cost), self.compute_us(cost))

    def memory_us(self, cost: Cost) -> float:
        """Return the least time of the traffic in microseconds; 0 without a memory ceiling."""
        return cost.bytes / self.bytes_per_s * 1e6 if self.bytes_per_s else 0.0

    def compute_us(self, cost: Cost) -> float:
        """Return the least time of the operations in microseconds; 0 without an arithmetic ceiling."""
        return cost.flops / self.flops_per_s * 1e6 if self.flops_per_s else 0.0

    def bound_by_memory(self, cost: Cost) -> bool:
        """Tell whether the traffic takes at least as long as the operations."""
        return self.memory_us(cost) >= self.compute_us(cost)


@dataclass(frozen=True, slots=True)
class CycleShare:
    """Operations per SM cycle of a call as a share of a ceiling's."""

    value: float
    low: float
    """The share at the upper end of the ceiling's 95 % interval."""
    high: float
    """The share at the lower end of that interval."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a timed evaluation; None where a ceiling or a probe was not measured."""

    bytes_per_s: float
    flops_per_s: float
    of_ceiling: float | None
    """Share of the ceiling: in SM cycles where `in_cycles` is known, else in time."""
    of_copy: float | None
    of_read: float | None
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline and probe."""
    in_cycles: CycleShare | None = None
    """Share of the ceiling in SM cycles, only for matrix kernels that arithmetic bounds."""
    of_sustained: CycleShare | None = None
    """The same under sustained load, of the sustained ceiling."""


def cost_of_evaluation(kernel: Kernel, evaluation: Evaluation) -> Cost | None:
    """Return the least cost of an evaluation; a param that is newer than the evaluation has its first value.

    The result is None when the kernel no longer has the workload, or a formula cannot be computed.
    """
    workload = next((w for w in kernel.workloads if w.name == evaluation.workload), None)
    params = {**{name: values[0] for name, values in kernel.params.items()}, **evaluation.params}
    try:
        return cost_of(kernel, workload, evaluation.dtype, params) if workload else None
    except FormulaError:
        return None


def workload_ceilings(kernel: Kernel, record: Record, run: Run, cost: Cost, dtype: str) -> WorkloadCeilings:
    """Return the ceilings of a cost and dtype: the larger of the run's probes and of its fastest passed evaluations,
    with the nearest mix of reads and writes for memory and the same dtype for arithmetic.
    """
    probed = probed_ceilings(run, cost, dtype)
    best = _best_rates(SameObject(kernel), SameObject(record), SameObject(run))
    return replace(
        probed,
        bytes_per_s=max(probed.bytes_per_s, best.get(probed.memory, 0.0)),
        flops_per_s=max(probed.flops_per_s, best.get(probed.compute, 0.0)),
        burst=_raised(probed.burst, best.get(f"{probed.compute} burst", 0.0)),
        sustained=_raised(probed.sustained, best.get(f"{probed.compute} sustained", 0.0)),
    )


def _raised(rate: CycleRate | None, per_cycle: float) -> CycleRate | None:
    """Return the larger of a probe's rate and the rate of an evaluation, which has no interval."""
    if rate is None or per_cycle <= rate.per_cycle:
        return rate
    return replace(rate, per_cycle=per_cycle, low=per_cycle, high=per_cycle)


def probed_ceilings(run: Run, cost: Cost, dtype: str) -> WorkloadCeilings:
    """Return the ceilings by the run's probes alone, without any time of the kernel."""
    memory = nearest_mix(run.ceilings, cost.read_share)
    compute = next((c for c in run.ceilings if c.name == COMPUTE.get(dtype)), None)
    return WorkloadCeilings(
        memory.name if memory else "",
        memory.rate if memory else 0.0,
        compute.name if compute else "",
        compute.rate if compute else 0.0,
        compute.burst if compute else None,
        compute.sustained if compute else None,
    )


@lru_cache(maxsize=64)
def _best_rates(kernel: SameObject[Kernel], record: SameObject[Record], run: SameObject[Run]) -> Mapping[str, float]:
    """Return the best rate of the evaluations that passed in a run, by the name of its ceiling.

    Rates per SM cycle have names such as `bf16 burst` and `bf16 sustained`.

    The result is cached because every figure of a page asks for it, and computing it reads the whole record.
    """
    best: dict[str, float] = {}
    for evaluation, cost in _timed_evaluations(kernel.value, record.value, run.value):
        limits, seconds = probed_ceilings(run.value, cost, evaluation.dtype), _seconds(evaluation)
        rates = {limits.compute: cost.flops / seconds, **_rates_in_cycles(limits.compute, cost, evaluation)}
        if not _fits_cache(cost, run.value):
            rates[limits.memory] = cost.bytes / seconds
        best |= {name: max(rate, best.get(name, 0.0)) for name, rate in rates.items() if name}
    for name, rate in _probe_rates(kernel.value, record.value, run.value):
        best[name] = max(rate, best.get(name, 0.0))
    return best


def _rates_in_cycles(compute: str, cost: Cost, evaluation: Evaluation) -> Mapping[str, float]:
    """Return the operations per SM cycle of a matrix kernel, in bursts and sustained."""
    timed = evaluation.performance
    if timed is None or not cost.is_matrix:
        return {}
    cycles = {"burst": timed.cycles, "sustained": timed.sustained.cycles if timed.sustained else None}
    return {f"{compute} {kind}": cost.flops / one for kind, one in cycles.items() if one}


def _probe_rates(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[str, float]]:
    """Yield (ceiling, rate) of the probes `copy`, which moves all bytes of a workload, and `read`, which reads its
    inputs.
    """
    for evaluation in record.evaluations:
        if evaluation.role is Role.PROBE and (moved := _moved_bytes(kernel, run, evaluation)):
            name = "memory 1:0" if evaluation.name == "read" else "memory 1:1"
            yield name, moved / _seconds(evaluation)


def _moved_bytes(kernel: Kernel, run: Run, probe: Evaluation) -> float:
    """Return the bytes that a timed probe of a run moves; 0 when a part of them may stay in the L2."""
    cost = cost_of_evaluation(kernel, probe) if made_on(probe, run) and probe.performance else None
    if cost is None:
        return 0.0
    moved = cost.read_bytes if probe.name == "read" else cost.bytes
    return moved if moved >= CACHE_FACTOR * run.environment.l2_bytes else 0.0


def nearest_mix(ceilings: Iterable[Ceiling], read_share: float) -> Ceiling | None:
    """Return the memory ceiling with the nearest share of reads; None when no memory ceiling was measured."""
    mixes = [c for c in ceilings if _is_memory(c)]
    return min(mixes, key=lambda c: abs(_read_share(c.name) - read_share), default=None)


def memory_rate(ceilings: Iterable[Ceiling], read_share: float) -> float:
    """Return the measured memory rate at a share of reads, linear between two measured mixes; 0 without any."""
    points = sorted((_read_share(c.name), c.rate) for c in ceilings if _is_memory(c))
    if not points:
        return 0.0
    below = max((p for p in points if p[0] <= read_share), default=points[0])
    above = min((p for p in points if p[0] >= read_share), default=points[-1])
    if above[0] == below[0]:
        return max(below[1], above[1])
    return below[1] + (above[1] - below[1]) * (read_share - below[0]) / (above[0] - below[0])


def figures(kernel: Kernel, record: Record, evaluation: Evaluation) -> Figures | None:
    """Return the figures of an evaluation; None when it has no time, or the kernel no longer has its workload."""
    timed = evaluation.performance
    cost = cost_of_evaluation(kernel, evaluation)
    run = run_of(record, evaluation)
    if timed is None or cost is None or run is None:
        return None
    limits = workload_ceilings(kernel, record, run, cost, evaluation.dtype)
    ratios = {ratio.baseline: ratio.value for ratio in timed.ratios}
    return Figures(
        bytes_per_s=cost.bytes / _seconds(evaluation),
        flops_per_s=cost.flops / _seconds(evaluation),
        of_ceiling=share_of_ceiling(limits, cost, timed),
        of_copy=ratios.get("copy"),
        of_read=ratios.get("read"),
        ratios=ratios,
        in_cycles=burst_share(limits, cost, timed),
        of_sustained=sustained_share(limits, cost, timed),
    )


def share_of_ceiling(limits: WorkloadCeilings, cost: Cost, timed: Performance) -> float | None:
    """Return the share of the ceiling, in SM cycles where `burst_share` knows it, else in time; None without one."""
    in_cycles, floor = burst_share(limits, cost, timed), limits.floor_us(cost)
    return in_cycles.value if in_cycles else floor / timed.median_us if floor else None


def burst_share(limits: WorkloadCeilings, cost: Cost, timed: Performance) -> CycleShare | None:
    """Return the share of the burst ceiling in SM cycles; None for a kernel that memory bounds, and in old records."""
    return _cycle_share(limits, limits.burst, cost, timed.cycles)


def sustained_share(limits: WorkloadCeilings, cost: Cost, timed: Performance) -> CycleShare | None:
    """Return the share of the sustained ceiling in SM cycles; None where `burst_share` is."""
    return _cycle_share(limits, limits.sustained, cost, timed.sustained.cycles if timed.sustained else None)


def _cycle_share(
    limits: WorkloadCeilings, ceiling: CycleRate | None, cost: Cost, cycles: float | None
) -> CycleShare | None:
    if ceiling is None or not cycles or not cost.is_matrix or limits.bound_by_memory(cost):
        return None
    per_cycle = cost.flops / cycles
    return CycleShare(per_cycle / ceiling.per_cycle, per_cycle / ceiling.high, per_cycle / ceiling.low)


def reread(counters: Counters | None, cost: Cost) -> float | None:
    """Return the counted DRAM bytes divided by the least bytes that must move; None where either is unknown."""
    return counters.dram_bytes / cost.bytes if counters and counters.valid and cost.bytes else None


def run_of(record: Record, evaluation: Evaluation) -> Run | None:
    """Return the run of an evaluation with the ceilings of its GPU; None when its record does not have them."""
    run = next((run for run in record.runs if run.id == evaluation.run), None)
    return run_on(run, evaluation.gpu_hash) if run else None


def impossible_rate_messages(kernel: Kernel, record: Record, run: Run) -> Iterator[str]:
    """Yield a sentence for each evaluation of a run that is faster than its GPU can be."""
    return (sentence for _, sentence in impossible_rates(kernel, record, run))


def impossible_rates(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[int, str]]:
    """Yield the index of each evaluation of a run that is faster than its GPU can be, and a sentence about it.

    The cause is an error of ours, in units, bytes or the flushing of caches, and the whole run is wrong.
    """
    places = {id(evaluation): index for index, evaluation in enumerate(record.evaluations)}
    for on_gpu in runs_on_each(run):
        for evaluation, why in _too_fast(kernel, record, on_gpu):
            cell = cell_name(evaluation.workload, evaluation.dtype, evaluation.params, kernel)
            yield places[id(evaluation)], f"{kernel.name}/{evaluation.name}@{cell}: {why}"


def impossible_points(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the place of each point of a sweep that is faster than its GPU can be, and a sentence about it."""
    for index, sweep in enumerate(record.sweeps):
        on_gpu = run_on(run, sweep.gpu_hash) if sweep.run == run.id else None
        for number, point in enumerate(sweep.points if on_gpu else ()):
            cost, one = cost_of_point(kernel, sweep, point), evaluation_at(sweep, point)
            ratios = _above_ceilings(on_gpu, one, cost) if on_gpu and cost and one.performance else ()
            for ratio, why in ratios:
                if ratio > 1 + MARGIN:
                    yield ("sweeps", index, "points", number), f"{kernel.name}/sweep/{sweep.name}: {why}"


def cost_of_point(kernel: Kernel, sweep: MeasuredSweep, point: SweepPoint) -> Cost | None:
    """Return the least cost of a point, as `cost_of_evaluation` does for an evaluation."""
    workload = next((w for w in kernel.workloads if w.name == sweep.workload), None)
    params = {**{name: values[0] for name, values in kernel.params.items()}, **sweep.params}
    try:
        return (
            cost_of(kernel, workload_at(workload, kernel.dims, point.values), sweep.dtype, params) if workload else None
        )
    except FormulaError:
        return None


def _too_fast(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[Evaluation, str]]:
    """Yield the evaluations that are faster than the one GPU of `run` can be, each with the reason."""
    for evaluation, cost in _timed_evaluations(kernel, record, run):
        ratios = list(_above_ceilings(run, evaluation, cost))
        if max((ratio for ratio, _ in ratios), default=0.0) <= 1 + MARGIN:
            continue  # nearly all evaluations: their noise, which takes long, need not be computed
        above = 1 + max(MARGIN, 4 * noise_by_timing(record).get(timing_id(evaluation), AA_NOISE))
        yield from ((evaluation, why) for ratio, why in ratios if ratio > above)
    for probe in (one for one in record.evaluations if one.role is Role.PROBE):
        if moved := _moved_bytes(kernel, run, probe):
            above = 1 + max(MARGIN, 4 * noise_by_timing(record).get(timing_id(probe), AA_NOISE))
            ratio, why = _above_memory(run, moved / _seconds(probe), 1.0 if probe.name == "read" else 0.5)
            if ratio > above:
                yield probe, why


def _above_ceilings(run: Run, evaluation: Evaluation, cost: Cost) -> Iterator[tuple[float, str]]:
    """Yield the rate of an evaluation over each ceiling that limits it, with what is wrong when that is too large."""
    seconds = _seconds(evaluation)
    rate = cost.bytes / seconds
    cache = next((c.rate for c in run.ceilings if c.name == "L2"), 0.0)
    if not _fits_cache(cost, run):
        yield _above_memory(run, rate, cost.read_share)
    elif cache and rate > cache * CACHE_MARGIN:
        yield math.inf, f"{rate / 1e12:.2f} TB/s, above the L2 ceiling ({cache / 1e12:.2f} TB/s)"
    yield _above_roof(run, evaluation, cost)
    if seconds * 1e6 < LEAST_US:
        yield math.inf, f"{seconds * 1e9:.3g} ns a call; no launch takes less than {LEAST_US * 1e3:.0f} ns"


def _above_memory(run: Run, rate: float, read_share: float) -> tuple[float, str]:
    """Return a rate over the ceiling of its own mix of reads and writes; 0 where no memory ceiling was measured."""
    ceiling = memory_rate(run.ceilings, read_share)
    mix = f"{rate / 1e12:.2f} TB/s, above the memory ceiling of its mix of reads and writes"
    return (rate / ceiling if ceiling else 0.0), f"{mix} ({ceiling / 1e12:.2f} TB/s)"


def _above_roof(run: Run, evaluation: Evaluation, cost: Cost) -> tuple[float, str]:
    """Return the operations of an evaluation over the ceiling of its dtype: in SM cycles where both are known."""
    limits, timed = probed_ceilings(run, cost, evaluation.dtype), evaluation.performance
    if timed and (share := burst_share(limits, cost, timed)) and limits.burst:
        per_cycle, roof = cost.flops / (timed.cycles or math.inf), limits.burst.per_cycle
        return share.low, f"{per_cycle:.0f} FLOP per SM cycle, above the roof of its dtype ({roof:.0f} per cycle)"
    flops, roof = cost.flops / _seconds(evaluation), limits.flops_per_s
    why = f"{flops / 1e12:.1f} TFLOP/s, above the roof of its dtype ({roof / 1e12:.1f} TFLOP/s)"
    return (flops / roof if roof else 0.0), why


def _timed_evaluations(kernel: Kernel, record: Record, run: Run) -> Iterator[tuple[Evaluation, Cost]]:
    """Yield the timed evaluations that one GPU made in a run, and their costs.

    Probes are left out, because they do none of the operations.
    """
    for evaluation in record.evaluations:
        cost = cost_of_evaluation(kernel, evaluation)
        if made_on(evaluation, run) and evaluation.performance and cost and evaluation.role is not Role.PROBE:
            yield evaluation, cost


def _fits_cache(cost: Cost, run: Run) -> bool:
    return cost.bytes < CACHE_FACTOR * run.environment.l2_bytes


def _seconds(evaluation: Evaluation) -> float:
    return evaluation.performance.median_us / 1e6 if evaluation.performance else float("inf")


def _is_memory(ceiling: Ceiling) -> bool:
    """Tell whether a ceiling is one of memory: L2 and shared memory have a rate too, but no mix of reads and writes."""
    return ceiling.name.startswith("memory ")


def _read_share(mix: str) -> float:
    reads, _, writes = mix.removeprefix("memory ").partition(":")
    return int(reads) / (int(reads) + int(writes))
