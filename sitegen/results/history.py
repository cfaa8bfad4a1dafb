"""The history of a kernel on one GPU: a line of JSON per run, and each run beside the one before it.

A line keeps what a figure is computed from (times, ratios, intervals, ceilings), not the figure, so that a corrected
formula corrects old runs too.  Old lines lack what was not kept yet: intervals, ceilings, what each process saw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sitegen.diagnostics import Diagnostic
from sitegen.model.kernel import Kernel, Scalar, Status
from sitegen.model.record import SCHEMA, Evaluation, Performance, Ratio, Record, Role, Run
from sitegen.results.compare import Row, Side, compare_sides
from sitegen.results.json_text import dump_line, stored
from sitegen.results.measures import figures
from sitegen.results.noise import AA_NOISE, noises, timing_of
from sitegen.results.records import PastRun, PastTime, swept
from sitegen.results.shape import parse

ASSUMED = f"where no interval was kept, ±{2 * AA_NOISE:.2%} of noise stands for it"


@dataclass(frozen=True, slots=True)
class Moment:
    """One implementation at one workload in one run."""

    past: PastRun
    evaluation: Evaluation
    of_ceiling: float | None
    """None when the run's ceilings are not kept."""
    row: Row | None
    """Against the run before; None for the first."""
    noise: float
    """Standard deviation of its ratios between two runs of the same code, relative."""

    def ratio(self, baseline: str) -> Ratio | None:
        timed = self.evaluation.performance
        return next((r for r in timed.ratios if r.baseline == baseline), None) if timed else None


def parse_history(text: str, path: str) -> tuple[tuple[PastRun, ...], tuple[Diagnostic, ...]]:
    """The runs, oldest first, and every mistake at its line."""
    parsed = [(n, *parse(PastRun, line, path)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    runs = (past for _, past, _ in parsed if past)
    mistakes = tuple(_at_line(one, n) for n, _, found in parsed for one in found)
    return tuple(sorted(runs, key=lambda past: past.run)), mistakes


def history_line(record: Record, run: Run) -> str:
    """When, with what, and the time and ratios of each evaluation of that run."""
    e = run.environment
    baselines = {one.name for one in record.evaluations if one.role is Role.BASELINE}
    times = {
        title_of(one): _past_time(timed, baselines)
        for one in record.evaluations
        if one.run == run.id and (timed := one.performance)
    }
    return dump_line(stored(PastRun(run.id, run.commit, e.driver, e.cuda, e.torch, e.triton, times, e, run.ceilings)))


def _past_time(timed: Performance, baselines: Collection[str]) -> PastTime:
    return PastTime(
        timed.median_us,
        {ratio.baseline: ratio.value for ratio in timed.ratios},
        (timed.low_us, timed.high_us),
        {ratio.baseline: (ratio.low, ratio.high) for ratio in timed.ratios},
        timed.by_process_us,
        {
            ratio.baseline: ratio.by_process
            for ratio in timed.ratios
            if ratio.by_process and ratio.baseline in baselines
        },
        timed.cycle_ratios,
    )


def title_of(one: Evaluation) -> str:
    """`fused@8192x8192:float32[causal=True]`: how a line names it."""
    return f"{one.name}@{_cell(one.workload, one.dtype, one.params)}"


def moments(kernel: Kernel, record: Record, history: Iterable[PastRun], one: Evaluation) -> tuple[Moment, ...]:
    """The runs that timed `one`, oldest first.  `record` has the ceilings of those lines that keep none."""
    return timelines(kernel, record, history, (one,))[0]


def timelines(
    kernel: Kernel, record: Record, history: Iterable[PastRun], ones: Iterable[Evaluation]
) -> tuple[tuple[Moment, ...], ...]:
    """The moments of each of `ones`: what a line of the history keeps is read once for all of them."""
    pages = [_Page(past, past_record(kernel, record, past)) for past in history]
    return tuple(_timeline(kernel, pages, title_of(one)) for one in ones)


@dataclass(frozen=True)
class _Page:
    """A run of the history."""

    past: PastRun
    record: Record

    @cached_property
    def sides(self) -> dict[str, Side]:
        """Everything that it timed, by title."""
        quiet = noises(self.record)
        return {
            title_of(one): Side(self.record, one, quiet.get(timing_of(one), AA_NOISE))
            for one in self.record.evaluations
        }


def _timeline(kernel: Kernel, pages: Iterable[_Page], title: str) -> tuple[Moment, ...]:
    found: list[Moment] = []
    before: tuple[PastRun, Side] | None = None
    for past, now in ((page.past, page.sides[title]) for page in pages if title in page.sides):
        row = compare_sides(kernel, before[1], now) if before else None
        if row and before and not all(one_run.evaluations[title].intervals for one_run in (before[0], past)):
            row = replace(row, reason=f"{row.reason} ({ASSUMED})")
        known = figures(kernel, now.record, now.evaluation)
        found.append(Moment(past, now.evaluation, known.of_ceiling if known else None, row, now.noise))
        before = past, now
    return tuple(found)


def past_record(kernel: Kernel, record: Record, past: PastRun) -> Record:
    """What a line keeps as a record: of the workloads that the kernel still has; no run when its ceilings are lost."""
    kept = [run for run in record.runs if run.id == past.run]
    if past.environment:
        kept = [Run(past.run, past.date, past.commit, past.environment, past.ceilings)]
    return Record(SCHEMA, kernel.name, record.gpu, tuple(kept), tuple(_evaluations(kernel, past)))


def _evaluations(kernel: Kernel, past: PastRun) -> Iterator[Evaluation]:
    cells = {
        _cell(workload.name, dtype, params): (workload.name, dtype, params)
        for workload in kernel.workloads
        for dtype in kernel.dtypes
        for params in swept(kernel)
    }
    for title, time in past.evaluations.items():
        name, _, cell = title.partition("@")
        if cell in cells:
            workload, dtype, params = cells[cell]
            timed = _performance(time)
            role = _role(kernel, name)
            yield Evaluation(role, name, workload, dtype, past.run, Status.PASSED, params=params, performance=timed)


def _role(kernel: Kernel, name: str) -> Role:
    if name in kernel.baselines:
        return Role.BASELINE
    return Role.IMPLEMENTATION if name in {one.name for one in kernel.implementations} else Role.PROBE


def _performance(time: PastTime) -> Performance:
    """A line keeps no percentiles and no samples: they are its median and none."""
    low, high = time.interval_us or _by_noise(time.median_us)
    ratios = tuple(
        Ratio(name, value, *(time.intervals.get(name) or _by_noise(value)), time.by_process.get(name, ()))
        for name, value in time.ratios.items()
    )
    t = time.median_us
    return Performance(
        t,
        t,
        t,
        t,
        low,
        high,
        samples=0,
        rounds_us=(),
        ratios=ratios,
        by_process_us=time.by_process_us,
        cycle_ratios=time.cycle_ratios,
    )


def _by_noise(value: float) -> tuple[float, float]:
    """An interval for a line that kept none."""
    return value * (1 - 2 * AA_NOISE), value * (1 + 2 * AA_NOISE)


def _cell(workload: str, dtype: str, params: Mapping[str, Scalar]) -> str:
    return f"{workload}:{dtype}" + "".join(f"[{name}={value}]" for name, value in sorted(params.items()))


def _at_line(one: Diagnostic, number: int) -> Diagnostic:
    return replace(one, span=replace(one.span, line=number))
