"""Turn a sweep of a record into the points of a plot, beside the ceiling, the copy and the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from sitegen.model.cost import Cost
from sitegen.model.document import PlotSlot
from sitegen.model.formula import FormulaError, evaluate, names_in
from sitegen.model.kernel import Kernel, Sweep, Workload
from sitegen.model.record import MeasuredSweep, Performance, Record, Run, SweepPoint
from sitegen.model.sweep_points import dims_in, numbers_at
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import gpu_name
from sitegen.render.measurements.kernel_charts import ceiling_name
from sitegen.render.measurements.plot_points import LOG_FROM, Column, Line, PlotAxes, PlotData, PlotPoint
from sitegen.render.measurements.provenance import ceilings_href, provenance, record_href
from sitegen.render.shared import numbers
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
MILLISECONDS_FROM_US = 20_000.0
"""The time from which on the axis is in milliseconds."""


def sweep_data(
    sources: Sources, kernel: Kernel, slot: PlotSlot, here: str, id_of: Callable[[str], str]
) -> tuple[PlotAxes | None, Mapping[str, PlotData]]:
    """Return the axes of a sweep and what each GPU measured, by the id of the GPU; no axes when none did.

    `id_of` gives the prefix of the ids of the rows for a GPU.
    """
    found = [
        (record, one) for record in sources.records(kernel.name) for one in record.sweeps if one.name == slot.sweep
    ]
    alone = [_Shown(sources, kernel, record, one, slot, id_of(record.gpu)) for record, one in found]
    drawn = [one for one in alone if one.can_be_drawn]
    shown = [replace(one, others=tuple(other for other in drawn if other is not one)) for one in drawn]
    axes = next((one.axes for one in shown if one.placed), shown[0].no_axes if shown else None)
    return axes, {one.record.gpu: one.data(here) for one in shown}


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
    view: PlotSlot
    id: str
    others: tuple[_Shown, ...] = ()
    """The same sweep on other GPUs."""

    @cached_property
    def can_be_drawn(self) -> bool:
        """Whether there is a time, and the points have the names that the axis needs."""
        return bool(self.placed) or not names_in(self.view.x) - self.known

    def data(self, here: str) -> PlotData:
        run, gpu = self.run, self.record.gpu
        clocks = [one.timed.sm_clock_mhz for one in self.placed if one.timed.sm_clock_mhz]
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
        return PlotData(
            gpu=gpu_name(self.record),
            record=f"{self.kernel.name} {gpu}",
            subject=self.subject,
            points=tuple(map(self._point, self.placed)),
            columns=self.columns if self.placed else {},
            table=self.table,
            lines=tuple(line for line, _ in self._lines) if self.placed else (),
            caption=self.caption,
            stale=self.stale,
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
        asked = self.view.value if self.view.kind == "heat" else next(iter(self.view.y), "")
        if asked:
            return asked
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
    def columns(self) -> Mapping[str, Column]:
        unit = self.y_title.partition(":")[0].removesuffix(" a call").strip()
        swept = {name: Column(" = ".join(dims_in(name)).replace("*", "×")) for name in self.swept}
        return {**swept, self.x: Column(self.x_title), self.quantity: Column(self.y_title, unit)}

    @property
    def axes(self) -> PlotAxes:
        view, heat = self.view, self.view.kind == "heat"
        shown = {*names_in(self.x), *(view.y if heat else ()), *filter(None, [view.panels])}
        rest = tuple(name for name in self.swept if name not in shown and not shown & {*dims_in(name)})
        log = view.log if view.log is not None else self._wide_axes
        return PlotAxes(
            x=self.x,
            y=view.y if heat else (self.quantity,),
            kind=view.kind or "line",
            curves=view.curves or (() if heat else rest),
            panels=view.panels,
            value=self.quantity if heat else "",
            log=log,
            x_title=view.x_title,
            y_title=view.y_title,
            notes=view.notes,
        )

    @property
    def no_axes(self) -> PlotAxes:
        """The axes of a sweep without a time, of which only the table is shown."""
        return PlotAxes(x="", y=("time",), kind="line")

    @property
    def _wide_axes(self) -> tuple[str, ...]:
        """The axes whose values span a large factor; a rate has a linear axis, because it begins at 0."""
        spans = {"x": [one.x for one in self.on_every_gpu]}
        if self.quantity == "time":
            spans["y"] = [one.timed.median_us for one in self.on_every_gpu]
        return tuple(axis for axis, values in spans.items() if max(values) >= LOG_FROM * min(values))

    def _point(self, one: _Placed) -> PlotPoint:
        y = self.value(one, one.timed.median_us)
        low, high = sorted(self.value(one, us) for us in (one.timed.p20_us, one.timed.p80_us))
        beside = {line.name: self.value(one, us) for line, time_of in self._lines if (us := time_of(one))}
        return PlotPoint(
            words=self._words(one.point),
            values={**one.point.values, self.x: one.x, self.quantity: y},
            ends={self.quantity: (low, high)},
            beside=beside,
            href=f"#{self.id}-p{one.index}",
            stale=bool(self.stale),
        )

    @cached_property
    def _lines(self) -> tuple[tuple[Line, Callable[[_Placed], float | None]], ...]:
        """The ceiling, the copy of the same bytes and the first baseline, each with its time at a point."""
        baseline, varies = next(iter(self.kernel.baselines), ""), self.sweeps_dims
        copy, ceiling = Line(COPY, "axis", varies), Line("ceiling", "roof", varies)
        against = (Line(baseline, "baseline dash", varies), lambda one: one.time_of(baseline))
        if self.quantity == "of-copy":
            return (copy, lambda one: one.time_of(COPY)), against
        by_copy = ((copy, lambda one: one.time_of(COPY)),) if self.by_memory else ()
        return (ceiling, self._floor_us), *by_copy, against

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

    @property
    def subject(self) -> str:
        return f"{self.kernel.name}/{self.measured.implementation}"

    @property
    def caption(self) -> str:
        title = f"{self._title()}: "
        shape = "" if self.sweeps_dims else f" at {numbers.shape(self.measured.workload)}"
        found = [(line.name, time_of) for line, time_of in self._lines] if self.placed else []
        named = {name for name, time_of in found if any(map(time_of, self.placed))}
        lines = [
            f"bold, the ceiling ({self.ceiling})" if "ceiling" in named else "",
            "thin, a copy of the same bytes" if COPY in named else "",
            f"dashed, {baseline}" if (baseline := next(iter(self.kernel.baselines), "")) in named else "",
        ]
        lines_ = f" Lines: {'; '.join(filter(None, lines))}." if named else ""
        return f"{title}{self.subject}{shape} in {self.measured.dtype}.{lines_} Whiskers reach from p20 to p80."

    def _title(self) -> str:
        """Return the title in kernel.yaml, or that of the axes which the author chose instead."""
        if self.sweep and not (self.view.x or self.view.y or self.view.kind == "heat"):
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
