"""Print `{sweep}`: a measured quantity over the values of a sweep, beside the ceiling, the copy and the baseline.

A table of all points is folded beneath.  The page of a kernel shows each of its sweeps in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from markupsafe import Markup

from sitegen.model.cost import Cost
from sitegen.model.document import SweepSlot
from sitegen.model.formula import FormulaError, evaluate, names_in
from sitegen.model.kernel import Kernel, Sweep, Workload
from sitegen.model.record import MeasuredSweep, Performance, Record, Run, SweepPoint
from sitegen.model.sweep_points import dims_in, numbers_at
from sitegen.render.figures.curves import Curve, CurveKind, CurvePoint, Curves, Reference, render_curves
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import label_of, side_by_side
from sitegen.render.measurements.kernel_charts import ceiling_name
from sitegen.render.measurements.provenance import Provenance, ceilings_href, provenance, record_href
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent
from sitegen.results.figures import WorkloadCeilings, cost_of_point, workload_ceilings
from sitegen.results.freshness import FreshnessState
from sitegen.results.run_gpus import run_on

COPY = "copy"
"""Name of the copy of the same bytes among the ratios of a point."""
QUANTITIES = {
    "time": "Time",
    "bandwidth": "Bandwidth",
    "operations": "Operations a second",
    "of-copy": "Share of the copy’s bandwidth",
}
"""Names of the quantities of the vertical axis."""
LOG_FROM = 8.0
"""The factor between the largest and the smallest value from which on an axis is logarithmic."""
MILLISECONDS_FROM_US = 20_000.0
"""The time from which on the axis is in milliseconds."""
MOST_DESCRIBED = 32
"""The most points in the description of a chart; the table has all."""


@dataclass(frozen=True, slots=True)
class SweepView:
    """The wishes of an author for the chart of a sweep; the default values suit any sweep."""

    x: str = ""
    x_title: str = ""
    y: str = ""
    kind: str = "line"
    log: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SweepFigure:
    id: str
    record: str
    """The record of its figures, for `sitegen verify`: `softmax nvidia-h200`."""
    label: str
    caption: str
    chart: Markup
    """The chart; empty when no point has a time."""
    stale: str
    """The reason for which the sweep is stale; empty for a sweep of the present code."""
    points: tables.Table
    provenance: tuple[Provenance, ...]
    notes: tuple[str, ...]


def render_slot(printer: Printer, slot: SweepSlot, here: str, prefix: str) -> Markup:
    """Return the figure for each GPU that has measured the sweep, or the statement that none has."""
    kernel = printer.sources.kernel(slot.kernel)
    view = SweepView(slot.x, slot.x_title, slot.y, slot.kind, slot.log)
    records = printer.sources.records(slot.kernel) if kernel else ()
    shown = _on_every_gpu(printer.sources, kernel, slot.sweep, view) if kernel else ()
    parts: list[tuple[Record, Markup]] = []
    for one in shown:
        name = slot.label if slot.label and not parts else f"{prefix}-{one.record.gpu}"
        label = label_of(printer.sources, one.record, slot.number)
        figure = replace(one, id=name).figure(here, label, slot.caption)
        parts.append((one.record, printer.fragment("partials/sweep.html", figure)))
    if not parts:
        text = f"Not measured yet: the sweep {slot.sweep} of {slot.kernel}."
        return absent(printer, text, slot.number, slot.label)
    return side_by_side(printer, parts, records, prefix)


def sweep_figures(sources: Sources, kernel: Kernel, record: Record, here: str, prefix: str) -> tuple[SweepFigure, ...]:
    """Return a figure for each sweep that the record has, in the order of kernel.yaml."""
    every = (one for sweep in kernel.sweeps for one in _on_every_gpu(sources, kernel, sweep.name, SweepView()))
    shown = (replace(one, id=f"{prefix}-{one.measured.name}") for one in every if one.record is record)
    return tuple(one.figure(here, label_of(sources, record), "") for one in shown)


def _on_every_gpu(sources: Sources, kernel: Kernel, name: str, view: SweepView) -> tuple[_Shown, ...]:
    """Return a sweep on each GPU that measured it; each knows the others, because all charts have the same axes."""
    measured = [(record, one) for record in sources.records(kernel.name) for one in record.sweeps if one.name == name]
    alone = [_Shown(sources, kernel, record, one, view, name) for record, one in measured]
    drawn = [one for one in alone if one.can_be_drawn]
    return tuple(replace(one, others=tuple(other for other in drawn if other is not one)) for one in drawn)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A timed point: its place on the horizontal axis, its cost and its ceilings."""

    index: int
    point: SweepPoint
    x: float
    cost: Cost
    limits: WorkloadCeilings
    timed: Performance

    def time_of(self, other: str) -> float | None:
        """Return the time in microseconds of a baseline or of the copy, from the ratio within rounds."""
        ratio = next((one.value for one in self.timed.ratios if one.baseline == other), None)
        return ratio * self.timed.median_us if ratio else None


@dataclass(frozen=True)
class _Shown:
    """One measured sweep as its author wants it shown."""

    sources: Sources
    kernel: Kernel
    record: Record
    measured: MeasuredSweep
    view: SweepView
    id: str
    others: tuple[_Shown, ...] = ()
    """The same sweep on other GPUs."""

    @cached_property
    def can_be_drawn(self) -> bool:
        """Whether there is a time, and the points have the names that the axis needs."""
        return bool(self.placed) or not names_in(self.view.x) - self.known

    def figure(self, here: str, label: str, caption: str) -> SweepFigure:
        run, placed = self.run, self.placed
        gpu = self.record.gpu
        clocks = [one.timed.sm_clock_mhz for one in placed if one.timed.sm_clock_mhz]
        made = (
            provenance(
                run,
                record_href(self.record, here),
                ceilings_href(self.sources, gpu, here),
                median(clocks) if clocks else None,
            )
            if run
            else None
        )
        return SweepFigure(
            record=f"{self.kernel.name} {gpu}",
            id=self.id,
            label=label,
            caption=caption or self.caption,
            chart=render_curves(self.chart, id=self.id, beside=tuple(self.beside)) if placed else Markup(),
            stale=self.stale,
            points=self.table,
            provenance=(made,) if made else (),
            notes=tuple(self.notes()),
        )

    @cached_property
    def run(self) -> Run | None:
        run = next((run for run in self.record.runs if run.id == self.measured.run), None)
        return run_on(run, self.measured.gpu_hash) if run else None

    @cached_property
    def sweep(self) -> Sweep | None:
        """The sweep as kernel.yaml has it today; None when it has no such sweep."""
        return next((one for one in self.kernel.sweeps if one.name == self.measured.name), None)

    @cached_property
    def workload(self) -> Workload | None:
        return next((one for one in self.kernel.workloads if one.name == self.measured.workload), None)

    @cached_property
    def stale(self) -> str:
        state = self.sources.evidence.of_sweep(self.record, self.measured)
        return ", ".join(state.reasons) if state.state is FreshnessState.STALE else ""

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """The names of the swept values, in the order of kernel.yaml; dims that are equal are one, such as `M=N=K`."""
        names = tuple(self.measured.points[0].values) if self.measured.points else ()
        written = (*self.sweep.constants, *self.sweep.dims) if self.sweep else ()
        return (*(name for name in written if name in names), *(name for name in names if name not in written))

    @cached_property
    def known(self) -> set[str]:
        return {name for tied in self.swept for name in dims_in(tied)} | {*self.kernel.dims, "itemsize"}

    @cached_property
    def sweeps_dims(self) -> bool:
        return any(dim in self.kernel.dims for name in self.swept for dim in dims_in(name))

    @cached_property
    def x(self) -> str:
        """The expression of the horizontal axis."""
        return self.view.x or dims_in(self.swept[0])[0]

    @cached_property
    def x_title(self) -> str:
        tied = next((name for name in self.swept if self.x in dims_in(name)), self.x)
        return self.view.x_title or " = ".join(dims_in(tied)).replace("*", "×")

    @cached_property
    def placed(self) -> tuple[_Placed, ...]:
        """The points with a time; none when their ceilings are not known or the axis has an unknown name."""
        run, workload = self.run, self.workload
        if run is None or workload is None or names_in(self.x) - self.known:
            return ()
        placed: list[_Placed] = []
        for index, point in enumerate(self.measured.points):
            cost = cost_of_point(self.kernel, self.measured, point)
            x = self._x_of(point, workload)
            if point.performance and cost and x is not None:
                limits = workload_ceilings(self.kernel, self.record, run, cost, self.measured.dtype)
                placed.append(_Placed(index, point, x, cost, limits, point.performance))
        return tuple(placed)

    def _x_of(self, point: SweepPoint, workload: Workload) -> float | None:
        """Return the place of a point on the horizontal axis; None where the author's formula has no value."""
        numbers_ = numbers_at(workload, self.kernel.dims, self.measured.dtype, point.values)
        try:
            return float(evaluate(self.x, numbers_))
        except FormulaError:
            return None

    @cached_property
    def quantity(self) -> str:
        """The quantity of the vertical axis."""
        if self.view.y:
            return self.view.y
        first = self.placed[0]
        return "time" if self.sweeps_dims else "bandwidth" if first.limits.bound_by_memory(first.cost) else "operations"

    @cached_property
    def in_ms(self) -> bool:
        return max(one.timed.median_us for one in self.on_every_gpu) >= MILLISECONDS_FROM_US

    @property
    def on_every_gpu(self) -> Iterator[_Placed]:
        """The points on this GPU and on the others, which together decide the units and the scales of the axes."""
        yield from self.placed
        for other in self.others:
            yield from other.placed

    @property
    def beside(self) -> Iterator[Curves]:
        """The charts of the other GPUs that have the same quantity."""
        for one in self.others:
            rest = (self, *(other for other in self.others if other is not one))
            if one.placed and one.quantity == self.quantity:
                yield replace(one, others=rest).chart

    def value(self, one: _Placed, us: float) -> float:
        """Return the quantity of a point if its call took `us` microseconds."""
        if self.quantity == "time":
            return us / 1e3 if self.in_ms else us
        if self.quantity == "of-copy":
            return 100 * (one.time_of(COPY) or 0.0) / us
        return (one.cost.bytes if self.quantity == "bandwidth" else one.cost.flops) / us / 1e6

    @property
    def y_title(self) -> str:
        return {
            "time": f"{'ms' if self.in_ms else 'µs'} a call",
            "bandwidth": "TB/s: bytes that must move ÷ time",
            "operations": "TFLOP/s: operations ÷ time",
            "of-copy": f"{numbers.NBSP}%: time of the copy ÷ time",
        }[self.quantity].strip()

    @cached_property
    def chart(self) -> Curves:
        curves = tuple(self._curves())
        machine = self.run.environment.gpu if self.run else self.record.gpu
        xs = [one.x for one in self.on_every_gpu]
        ys = [self.value(one, one.timed.median_us) for one in self.on_every_gpu]
        log = self.view.log
        return Curves(
            title=f"{QUANTITIES[self.quantity]} over {self.x_title}: {self.subject} on {machine}",
            about="; ".join(point.words for curve in curves for point in curve.points[:MOST_DESCRIBED]) + ".",
            x_title=self.x_title,
            y_title=self.y_title,
            curves=curves,
            references=tuple(self._references()),
            kind=CurveKind(self.view.kind),
            log_x=min(xs) > 0 and ("x" in log if log is not None else max(xs) >= LOG_FROM * min(xs)),
            log_y="y" in log if log is not None else self.quantity == "time" and max(ys) >= LOG_FROM * min(ys),
        )

    def _curves(self) -> Iterator[Curve]:
        """Yield a curve for each combination of the values that the horizontal axis does not have."""
        others = [name for name in self.swept if not set(dims_in(name)) & names_in(self.x)]
        by_name: dict[str, list[_Placed]] = {}
        for one in self.placed:
            by_name.setdefault(", ".join(f"{name} {one.point.values[name]}" for name in others), []).append(one)
        for name, several in by_name.items():
            yield Curve(name, tuple(map(self._point, sorted(several, key=lambda one: one.x))))

    def _point(self, one: _Placed) -> CurvePoint:
        y = self.value(one, one.timed.median_us)
        low, high = sorted(self.value(one, us) for us in (one.timed.p20_us, one.timed.p80_us))
        unit = self.y_title.partition(":")[0].removesuffix(" a call").strip()
        words = f"{self._words(one.point)}: {numbers.with_unit(numbers.significant(y, 3), unit)}"
        href = f"#{self.id}-p{one.index}"
        return CurvePoint(one.x, y, low, high, f"{words}{', stale' if self.stale else ''}", href, bool(self.stale))

    def _references(self) -> Iterator[Reference]:
        """Yield the ceiling, the copy of the same bytes and the first baseline, where they were measured."""
        baseline = next(iter(self.kernel.baselines), "")
        names: list[tuple[str, str, Callable[[_Placed], float | None]]] = []
        if self.quantity == "of-copy":
            names = [(COPY, "axis", lambda one: one.time_of(COPY))]
        else:
            names.append(("ceiling", "roof", self._floor_us))
            if self.by_memory:
                names.append((COPY, "axis", lambda one: one.time_of(COPY)))
        names.append((baseline, "baseline dash", lambda one: one.time_of(baseline)))
        for name, class_, time_of in names:
            if points := self._line(time_of):
                yield Reference(name, class_, points)

    @cached_property
    def by_memory(self) -> bool:
        """Whether the traffic bounds every point."""
        return all(one.limits.bound_by_memory(one.cost) for one in self.placed)

    @property
    def ceiling(self) -> str:
        """The name of the ceiling that the reference shows; of the first point, where points have several."""
        limits = self.placed[0].limits
        in_bytes = self.quantity == "bandwidth" or (self.quantity == "time" and self.by_memory)
        name = limits.memory if in_bytes else limits.compute
        return ceiling_name(name) if name else ""

    def _floor_us(self, one: _Placed) -> float | None:
        """Return the least time that the ceiling of the quantity allows."""
        floors = {"bandwidth": one.limits.memory_us, "operations": one.limits.compute_us, "time": one.limits.floor_us}
        return floors[self.quantity](one.cost) or None

    def _line(self, time_of: Callable[[_Placed], float | None]) -> tuple[tuple[float, float], ...]:
        """Return a reference as points: one for each x where dims are swept, else a single one, the median of all."""
        by_x: dict[float, list[float]] = {}
        for one in self.placed:
            if us := time_of(one):
                by_x.setdefault(one.x if self.sweeps_dims else 0.0, []).append(self.value(one, us))
        return tuple((x, median(values)) for x, values in sorted(by_x.items()))

    @property
    def subject(self) -> str:
        return f"{self.kernel.name}/{self.measured.implementation}"

    @property
    def caption(self) -> str:
        title = f"{self._title()}: "
        shape = "" if self.sweeps_dims else f" at {numbers.shape(self.measured.workload)}"
        named = {one.name for one in self.chart.references} if self.placed else set()
        lines = [
            f"bold, the ceiling ({self.ceiling})" if "ceiling" in named else "",
            "thin, a copy of the same bytes" if COPY in named else "",
            f"dashed, {baseline}" if (baseline := next(iter(self.kernel.baselines), "")) in named else "",
        ]
        lines_ = f" Lines: {'; '.join(filter(None, lines))}." if named else ""
        return f"{title}{self.subject}{shape} in {self.measured.dtype}.{lines_} Whiskers reach from p20 to p80."

    def _title(self) -> str:
        """Return the title in kernel.yaml, or that of the axes which the author chose instead."""
        if self.sweep and not (self.view.x or self.view.y):
            return self.sweep.title.rstrip(".")
        return f"{QUANTITIES[self.quantity]} over {self.x_title}" if self.placed else self.measured.name

    def notes(self) -> Iterator[str]:
        """Yield a note on points without a time."""
        points = len(self.measured.points)
        if without := points - len(self.placed):
            yield f"{without} of {numbers.count(points, 'point')} without a time: the table says why."

    @cached_property
    def table(self) -> tables.Table:
        by_index = {one.index: one for one in self.placed}
        baseline = next(iter(self.kernel.baselines), "")
        columns = [
            (title, text) for title, text in _columns(baseline) if title == "time" or any(map(text, self.placed))
        ]
        lines = tuple(self._line_of(n, point, by_index.get(n), columns) for n, point in enumerate(self.measured.points))
        headings = tuple(tables.Heading(title) for title, _ in columns)
        body = (tables.Body(lines=lines),)
        return tables.Table(
            f"{self.id}-n", f"Points of {self.subject}", "", headings, body, (), wide=False, first="point"
        )

    def _words(self, point: SweepPoint) -> str:
        """Return the values of a point: `THREADS 128, UNROLL 2`, `M = N = K 4096`."""
        return ", ".join(f"{' = '.join(dims_in(name))} {point.values[name]}" for name in self.swept)

    def _line_of(self, number: int, point: SweepPoint, one: _Placed | None, columns: Sequence[_Column]) -> tables.Line:
        id, name = f"{self.id}-p{number}", self._words(point)
        if one is None:
            reason = f"{point.status.words}: {tables.in_one_line(point.message)[:240]}"
            return tables.Line(id, name, "failed" if point.status.failed else "planned", "", reason=reason)
        cells = tuple(text(one) for _, text in columns)
        return tables.Line(id, name, "stale" if self.stale else "ours", "", cells)


_Column = tuple[str, Callable[[_Placed], str]]
"""The title of a column and its text for a point, empty where there is nothing to say."""


def _columns(baseline: str) -> tuple[_Column, ...]:
    """Return the columns of the table: times, rates, ratios and what the compiler made."""

    return (
        ("time", lambda one: numbers.microseconds(one.timed.median_us)),
        ("p20 to p80", lambda one: _range(one.timed.p20_us, one.timed.p80_us)),
        ("95 % interval", lambda one: _range(one.timed.low_us, one.timed.high_us)),
        ("bandwidth", lambda one: numbers.bandwidth(one.cost.bytes / one.timed.median_us * 1e6)),
        ("operations", _operations),
        ("of copy", lambda one: numbers.percent(us / one.timed.median_us) if (us := one.time_of(COPY)) else ""),
        (
            f"vs. {baseline}",
            lambda one: numbers.ratio(us / one.timed.median_us) if (us := one.time_of(baseline)) else "",
        ),
        ("registers", lambda one: str(c.registers) if (c := one.point.compilation) else ""),
        ("spilled", lambda one: numbers.size(c.spill_bytes) if (c := one.point.compilation) and c.spill_bytes else ""),
        ("occupancy", lambda one: numbers.percent(o, 0) if (r := one.point.launch) and (o := r.occupancy) else ""),
    )


def _operations(one: _Placed) -> str:
    """Return the rate of operations; empty where the traffic is the limit."""
    by_memory = one.limits.bound_by_memory(one.cost)
    return "" if by_memory else numbers.operations(one.cost.flops / one.timed.median_us * 1e6)


def _range(low: float, high: float) -> str:
    decimals = numbers.decimals_for([low, high], 4)
    return numbers.with_unit(f"{numbers.fixed(low, decimals)} to {numbers.fixed(high, decimals)}", "µs")
