"""Read and write the history of a kernel on one GPU, a line of JSON per run, and compare each run with the one before.

A line has the inputs of a figure (times, ratios, intervals, ceilings), not the figure, so that a corrected formula
corrects old runs too.  Old lines lack fields that were not kept yet: intervals, ceilings, medians of each generation
of processes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sitegen.diagnostics import Diagnostic
from sitegen.model.kernel import Kernel, Scalar, Status
from sitegen.model.record import SCHEMA, Evaluation, Performance, Ratio, Record, Role, Run
from sitegen.results.compare import EvaluationComparison, RecordedEvaluation, compare_evaluations
from sitegen.results.figures import figures
from sitegen.results.json_text import dump_line, to_stored
from sitegen.results.noise import AA_NOISE, noise_by_timing, timing_id
from sitegen.results.records import PastRun, PastTime, param_combinations
from sitegen.results.shape import parse

ASSUMED = f"where no interval was kept, ±{2 * AA_NOISE:.2%} of noise stands for it"


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The result of one implementation at one workload in one run."""

    past: PastRun
    evaluation: Evaluation
    of_ceiling: float | None
    """Share of the ceiling; None when the run's ceilings are not kept."""
    row: EvaluationComparison | None
    """Comparison with the run before; None for the first run."""
    noise: float
    """Standard deviation of its ratios between two runs of the same code, relative."""

    def ratio(self, baseline: str) -> Ratio | None:
        """Return the ratio to a baseline; None when it was not measured."""
        timed = self.evaluation.performance
        return next((r for r in timed.ratios if r.baseline == baseline), None) if timed else None


def parse_history(
    text: str, path: str, *, is_checked: bool = False
) -> tuple[tuple[PastRun, ...], tuple[Diagnostic, ...]]:
    """Return the runs, oldest first, and every mistake at its line; `is_checked` is that of `shape.parse`."""
    read = partial(parse, PastRun, path=path, is_checked=is_checked)
    parsed = [(n, *read(line)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    runs = (past for _, past, _ in parsed if past)
    mistakes = tuple(_at_line(one, n) for n, _, mistakes_of_line in parsed for one in mistakes_of_line)
    return tuple(sorted(runs, key=lambda past: past.run)), mistakes


def history_line(record: Record, run: Run) -> str:
    """Return the line of a run: time, versions, and the times and ratios of its evaluations."""
    e = run.environment
    baselines = {one.name for one in record.evaluations if one.role is Role.BASELINE}
    times = {
        title_of(one): _past_time(one, timed, baselines)
        for one in record.evaluations
        if one.run == run.id and (timed := one.performance)
    }
    past = PastRun(
        run=run.id,
        commit=run.commit,
        driver=e.driver,
        cuda=e.cuda,
        torch=e.torch,
        triton=e.triton,
        evaluations=times,
        environment=e,
        ceilings=run.ceilings,
        other_gpus=run.other_gpus,
    )
    return dump_line(to_stored(past))


def _past_time(one: Evaluation, timed: Performance, baselines: Collection[str]) -> PastTime:
    return PastTime(
        median_us=timed.median_us,
        ratios={ratio.baseline: ratio.value for ratio in timed.ratios},
        interval_us=(timed.low_us, timed.high_us),
        intervals={ratio.baseline: (ratio.low, ratio.high) for ratio in timed.ratios},
        by_process_us=timed.by_process_us,
        by_process={
            ratio.baseline: ratio.by_process
            for ratio in timed.ratios
            if ratio.by_process and ratio.baseline in baselines
        },
        cycle_ratios=timed.cycle_ratios,
        cycles=timed.cycles if timed.sustained else None,
        gpu_hash=one.gpu_hash,
    )


def title_of(one: Evaluation) -> str:
    """Return the name of an evaluation in a line: `fused@8192x8192:float32[causal=True]`."""
    return f"{one.name}@{_cell(one.workload, one.dtype, one.params)}"


def history_points(
    kernel: Kernel, record: Record, history: Iterable[PastRun], one: Evaluation
) -> tuple[HistoryPoint, ...]:
    """Return the runs that timed `one`, oldest first.  `record` has the ceilings for lines that keep none."""
    return timelines(kernel, record, history, (one,))[0]


def timelines(
    kernel: Kernel, record: Record, history: Iterable[PastRun], ones: Iterable[Evaluation]
) -> tuple[tuple[HistoryPoint, ...], ...]:
    """Return the history of each evaluation; a line of the history is converted once for all of them."""
    runs = [_HistoryRun(past, past_record(kernel, record, past)) for past in history]
    return tuple(_timeline(kernel, runs, title_of(one)) for one in ones)


@dataclass(frozen=True)
class _HistoryRun:
    """A run of the history, as its line and as a record."""

    past: PastRun
    record: Record

    @cached_property
    def evaluations(self) -> dict[str, RecordedEvaluation]:
        """All evaluations of the run, by title."""
        noise = noise_by_timing(self.record)
        return {
            title_of(one): RecordedEvaluation(self.record, one, noise.get(timing_id(one), AA_NOISE))
            for one in self.record.evaluations
        }


def _timeline(kernel: Kernel, runs: Iterable[_HistoryRun], title: str) -> tuple[HistoryPoint, ...]:
    timeline: list[HistoryPoint] = []
    before: tuple[PastRun, RecordedEvaluation] | None = None
    for past, now in ((run.past, run.evaluations[title]) for run in runs if title in run.evaluations):
        change = compare_evaluations(kernel, before[1], now) if before else None
        if change and before and not all(run.evaluations[title].intervals for run in (before[0], past)):
            change = replace(change, reason=f"{change.reason} ({ASSUMED})")
        known = figures(kernel, now.record, now.evaluation)
        timeline.append(HistoryPoint(past, now.evaluation, known.of_ceiling if known else None, change, now.noise))
        before = past, now
    return tuple(timeline)


def past_record(kernel: Kernel, record: Record, past: PastRun) -> Record:
    """Return the content of a line as a record.

    Workloads that the kernel no longer has are left out.  The record has no run when its ceilings are not kept.
    """
    kept = [run for run in record.runs if run.id == past.run]
    if past.environment:
        kept = [Run(past.run, past.date, past.commit, past.environment, past.ceilings, past.other_gpus)]
    return Record(SCHEMA, kernel.name, record.gpu, tuple(kept), tuple(_evaluations(kernel, past)))


def _evaluations(kernel: Kernel, past: PastRun) -> Iterator[Evaluation]:
    cells = {
        _cell(workload.name, dtype, params): (workload.name, dtype, params)
        for workload in kernel.workloads
        for dtype in kernel.dtypes
        for params in param_combinations(kernel)
    }
    for title, time in past.evaluations.items():
        name, _, cell = title.partition("@")
        if cell in cells:
            workload, dtype, params = cells[cell]
            yield Evaluation(
                _role(kernel, name),
                name,
                workload,
                dtype,
                past.run,
                Status.PASSED,
                params=params,
                performance=_performance(time),
                gpu_hash=time.gpu_hash,
            )


def _role(kernel: Kernel, name: str) -> Role:
    if name in kernel.baselines:
        return Role.BASELINE
    return Role.IMPLEMENTATION if name in {one.name for one in kernel.implementations} else Role.PROBE


def _performance(time: PastTime) -> Performance:
    """Return the performance of a line, in which the median stands for percentiles and minimum, without samples."""
    low, high = time.interval_us or _assumed_interval(time.median_us)
    ratios = tuple(
        Ratio(name, value, *(time.intervals.get(name) or _assumed_interval(value)), time.by_process.get(name, ()))
        for name, value in time.ratios.items()
    )
    return Performance(
        median_us=time.median_us,
        p20_us=time.median_us,
        p80_us=time.median_us,
        min_us=time.median_us,
        low_us=low,
        high_us=high,
        samples=0,
        rounds_us=(),
        ratios=ratios,
        by_process_us=time.by_process_us,
        cycle_ratios=time.cycle_ratios,
        cycles=time.cycles,
    )


def _assumed_interval(value: float) -> tuple[float, float]:
    """Return an interval for a value without one: twice the noise on each side."""
    return value * (1 - 2 * AA_NOISE), value * (1 + 2 * AA_NOISE)


def _cell(workload: str, dtype: str, params: Mapping[str, Scalar]) -> str:
    return f"{workload}:{dtype}" + "".join(f"[{name}={value}]" for name, value in sorted(params.items()))


def _at_line(one: Diagnostic, number: int) -> Diagnostic:
    return replace(one, span=replace(one.span, line=number))
