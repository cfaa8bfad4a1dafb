"""Compare two records of a kernel on one model of GPU: a verdict and its reason for each evaluation.

The verdict is made of the ratio to the first common baseline, of-ceiling and, for matrix kernels, the ratio in SM
cycles: these can be compared between machines, and microseconds cannot.  Differences without noise (registers, spills,
the check) are reported beside every verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sitegen.model.cost import Cost
from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Performance, Ratio, Record, Role, Run
from sitegen.model.site import Site
from sitegen.results.figures import WorkloadCeilings, burst_share, cost_of_evaluation, probed_ceilings, run_of
from sitegen.results.noise import AA_NOISE, noise_by_timing, timing_id
from sitegen.results.record_differences import deterministic_changes, newer_versions, same_code
from sitegen.results.records import EvaluationId, cell_name, evaluation_id
from sitegen.results.verdicts import (
    IN_CYCLES,
    OF_CEILING,
    FigureChange,
    Verdict,
    all_moved,
    reason_of,
    threshold_of,
    verdict,
)

UNCHANGED_CODE = "SASS and launch record unchanged: the machine or the libraries moved, not the code"


@dataclass(frozen=True, slots=True)
class EvaluationComparison:
    """One evaluation in two records."""

    title: str
    """`softmax/fused@8192x8192:float32`."""
    verdict: Verdict
    reason: str
    """Reason of the verdict in words: each change with the threshold and the intervals, or what else decided."""
    measures: tuple[FigureChange, ...] = ()
    noise: float = AA_NOISE
    """Standard deviation of the ratio between two runs of the same code, relative: the larger of the two records."""
    confirmed: bool | None = None
    """True when fresh processes measured the change too; None when nothing changed."""
    changes: tuple[str, ...] = ()
    """Differences without noise: `registers 80 → 96`.  They are a part of the reason, too."""

    @property
    def threshold(self) -> float:
        """Least relative change that counts."""
        return threshold_of(self.noise)

    @property
    def processes(self) -> tuple[int, int]:
        """Number of generations of processes that timed it, before and after."""
        seen = [m.processes for m in self.measures]
        return min((b for b, _ in seen), default=1), min((a for _, a in seen), default=1)

    @property
    def notable(self) -> bool:
        """Tell whether a report after a run shows the comparison."""
        quiet = self.verdict in (Verdict.SAME, Verdict.NEW, Verdict.GONE, Verdict.UNTIMED)
        return not quiet or bool(self.changes)


@dataclass(frozen=True, slots=True)
class RecordedEvaluation:
    """An evaluation in its record."""

    record: Record
    evaluation: Evaluation
    noise: float = AA_NOISE
    """Noise of everything that was timed together with it."""

    @property
    def timed(self) -> Performance | None:
        """Times of the evaluation; None when it did not pass."""
        return self.evaluation.performance

    @property
    def run(self) -> Run | None:
        """Run of the evaluation; None when a line of a history has too little of it."""
        return run_of(self.record, self.evaluation)


def compare_records(site: Site, before: Record, after: Record) -> tuple[EvaluationComparison, ...]:
    """Return a comparison of each implementation, in the order of `after`, those that only `before` has last.

    Raises ValueError when the records are of two kernels, or of a kernel that the site does not have.
    """
    kernel = next((k for k in site.kernels if k.name == after.kernel), None)
    if kernel is None or before.kernel != after.kernel:
        raise ValueError(f"a record of {before.kernel} and one of {after.kernel} cannot be compared")
    old, new = _recorded_evaluations(before), _recorded_evaluations(after)
    return tuple(compare_evaluations(kernel, old.get(one), new.get(one)) for one in {**new, **old})


def compare_all(site: Site, pairs: Iterable[tuple[Record, Record]]) -> tuple[EvaluationComparison, ...]:
    """Return the comparisons of several kernels and GPUs; with several GPUs each title names one.

    Raises ValueError as `compare_records` does.
    """
    every = list(pairs)
    several = len({after.gpu for _, after in every}) > 1
    return tuple(
        replace(row, title=f"{row.title} on {after.gpu}") if several else row
        for before, after in every
        for row in compare_records(site, before, after)
    )


def compare_evaluations(
    kernel: Kernel, before: RecordedEvaluation | None, after: RecordedEvaluation | None
) -> EvaluationComparison:
    """Return the comparison of an evaluation in two records; one of them may be None, where a record lacks it."""
    either = after or before
    assert either is not None
    one = either.evaluation
    title = f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)}"
    if before is None:
        return EvaluationComparison(title, Verdict.NEW, "only the second record has it")
    if after is None:
        return EvaluationComparison(title, Verdict.GONE, "only the first record has it")
    if before.timed is None or after.timed is None:
        return _compare_untimed(title, before.evaluation, after.evaluation)
    return _compare_timed(kernel, title, before, after)


def _compare_untimed(title: str, old: Evaluation, new: Evaluation) -> EvaluationComparison:
    """Return the comparison of two evaluations of which at least one has no time."""
    changes = deterministic_changes(old, new)
    why = new.message.split("\n")[0] or f"{old.status.words} → {new.status.words}"
    return EvaluationComparison(title, _by_status(old, new), "; ".join((why, *changes)), changes=changes)


def _compare_timed(
    kernel: Kernel, title: str, before: RecordedEvaluation, after: RecordedEvaluation
) -> EvaluationComparison:
    measures = tuple(_figure_changes(kernel, before, after))
    noise = max(before.noise, after.noise)
    threshold = threshold_of(noise)
    if why := _incomparable(before, after):
        return EvaluationComparison(title, Verdict.AMBIGUOUS, f"no verdict between {why}", measures, noise)
    decided = verdict(measures, threshold)
    changes = deterministic_changes(before.evaluation, after.evaluation)
    reasons = [reason_of(decided, measures, noise, _causes(kernel, before, after, measures, threshold)), *changes]
    if decided is not Verdict.SAME and same_code(before.evaluation, after.evaluation):
        reasons.append(UNCHANGED_CODE)
    confirmed = all(m.confirmed(threshold) for m in measures) if all_moved(measures, threshold) else None
    return EvaluationComparison(
        title,
        decided,
        "; ".join(reasons),
        measures=measures,
        noise=noise,
        confirmed=confirmed,
        changes=changes,
    )


def _incomparable(before: RecordedEvaluation, after: RecordedEvaluation) -> str:
    """Return what differs so that no verdict is possible: the model of GPU or the way of measuring; else empty."""
    if before.record.gpu != after.record.gpu:
        return f"two models of GPU, {before.record.gpu} and {after.record.gpu}"
    methods = {side.evaluation.key_parts.get("measure") for side in (before, after)}
    return "two ways of measuring: sitegen itself measured in another way before" if len(methods - {None}) > 1 else ""


def _recorded_evaluations(record: Record) -> dict[EvaluationId, RecordedEvaluation]:
    """Return the evaluations of our implementations by their ids."""
    noise = noise_by_timing(record)
    return {
        evaluation_id(e): RecordedEvaluation(record, e, noise.get(timing_id(e), AA_NOISE))
        for e in record.evaluations
        if e.role is Role.IMPLEMENTATION
    }


def _by_status(old: Evaluation, new: Evaluation) -> Verdict:
    if old.performance is None and new.performance is None:
        return Verdict.UNTIMED
    return Verdict.FAILED if new.performance is None else Verdict.REPAIRED


def _figure_changes(kernel: Kernel, before: RecordedEvaluation, after: RecordedEvaluation) -> Iterator[FigureChange]:
    if before.timed is None or after.timed is None:
        return
    if baseline := _common_baseline(kernel, before.timed, after.timed):
        yield from _ratio_change(f"{baseline} / t", baseline, before.timed.ratios, after.timed.ratios)
        yield from _ratio_change(
            f"{baseline} / t{IN_CYCLES}", baseline, before.timed.cycle_ratios, after.timed.cycle_ratios
        )
    in_cycles = all(_share_in_cycles(kernel, side) for side in (before, after))
    shares = _of_ceiling(kernel, before, in_cycles), _of_ceiling(kernel, after, in_cycles)
    if shares[0] and shares[1]:
        yield _figure_change(OF_CEILING, shares[0], shares[1])


def _common_baseline(kernel: Kernel, before: Performance, after: Performance) -> str:
    """Return the first baseline of both, in the order of kernel.yaml, else of the older record; empty without one."""
    old, new = ([ratio.baseline for ratio in timed.ratios] for timed in (before, after))
    return next((name for name in (*kernel.baselines, *old) if name in old and name in new), "")


def _ratio_change(name: str, baseline: str, before: Iterable[Ratio], after: Iterable[Ratio]) -> Iterator[FigureChange]:
    old, new = (next((r for r in ratios if r.baseline == baseline), None) for ratios in (before, after))
    if old and new:
        yield _figure_change(name, old, new)


def _figure_change(name: str, old: Ratio, new: Ratio) -> FigureChange:
    before, after = ((r.value, r.low, r.high) for r in (old, new))
    return FigureChange(name, before, after, old.by_process, new.by_process)


def _of_ceiling(kernel: Kernel, side: RecordedEvaluation, in_cycles: bool) -> Ratio | None:
    """Return of-ceiling with its interval, or None; the share in SM cycles where both records have one.

    Only ceilings of the run's probes count, because a ceiling that our own code raised would move with the code.
    """
    timed, floor = side.timed, _floor_us(kernel, side)
    if timed is None or not floor:
        return None
    if in_cycles:
        floor = _share_in_cycles(kernel, side) * timed.median_us
    by_process = tuple(floor / t for t in timed.by_process_us)
    return Ratio(OF_CEILING, floor / timed.median_us, floor / timed.high_us, floor / timed.low_us, by_process)


def _share_in_cycles(kernel: Kernel, side: RecordedEvaluation) -> float:
    """Return the share of the burst ceiling in SM cycles; 0 when it is not known."""
    cost = cost_of_evaluation(kernel, side.evaluation)
    share = burst_share(_limits(side, cost), cost, side.timed) if cost and side.timed else None
    return share.value if share else 0.0


def _floor_us(kernel: Kernel, side: RecordedEvaluation) -> float:
    """Return the least time in microseconds; 0 when it is not known."""
    cost = cost_of_evaluation(kernel, side.evaluation)
    return _limits(side, cost).floor_us(cost) if cost else 0.0


def _limits(side: RecordedEvaluation, cost: Cost) -> WorkloadCeilings:
    return probed_ceilings(side.run, cost, side.evaluation.dtype) if side.run else WorkloadCeilings()


def _causes(
    kernel: Kernel,
    before: RecordedEvaluation,
    after: RecordedEvaluation,
    measures: Sequence[FigureChange],
    threshold: float,
) -> Iterator[str]:
    """Yield an explanation when one figure changed and another one did not at all."""
    moved = {m.name for m in measures if m.beyond(threshold)}
    still = {m.name for m in measures if not m.beyond(threshold / 2)}
    ratio = next((m.name for m in measures if m.name.endswith(" / t")), "")
    if ratio in moved and OF_CEILING in still:
        yield f"the baseline {ratio.removesuffix(' / t')} moved, not this code ({_versions(before, after)})"
    if ratio in moved and ratio + IN_CYCLES in still:
        yield "the clock moved, SM cycles did not"
    if moved == {OF_CEILING} and ratio in still:
        yield _ceilings(kernel, before, after, threshold)


def _versions(before: RecordedEvaluation, after: RecordedEvaluation) -> str:
    if before.run is None or after.run is None:
        return "versions are not known"
    changed = newer_versions(before.run.environment, after.run.environment)
    return ", ".join(changed) or "with the same driver, CUDA, torch and Triton"


def _ceilings(kernel: Kernel, before: RecordedEvaluation, after: RecordedEvaluation, threshold: float) -> str:
    """Say whether the measured ceiling changed, or the machine with all its times."""
    floors = _floor_us(kernel, before), _floor_us(kernel, after)
    if abs(floors[1] / floors[0] - 1) <= threshold / 2:
        return "the machine moved, and the baseline with it"
    return f"the measured ceiling moved ({_binding(kernel, before)} → {_binding(kernel, after)})"


def _binding(kernel: Kernel, side: RecordedEvaluation) -> str:
    """Return the ceiling that binds, with its rate: `memory 1:1 at 4.28 TB/s`."""
    cost = cost_of_evaluation(kernel, side.evaluation)
    limits = _limits(side, cost) if cost else WorkloadCeilings()
    if cost and limits.bound_by_memory(cost):
        return f"{limits.memory} at {limits.bytes_per_s / 1e12:.2f} TB/s"
    return f"{limits.compute} at {limits.flops_per_s / 1e12:.1f} TFLOP/s"
