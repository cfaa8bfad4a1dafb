"""Hold what a plot shows as points with named values, and turn them into the charts that `render/figures` draws.

A sweep, the evaluations of a kernel and the table of a cell are all turned into `PlotData` first, one for each GPU.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from markupsafe import Markup

from sitegen.render.figures.axes import size_number
from sitegen.render.figures.bars import render_bars
from sitegen.render.figures.curves import Curve, CurveKind, CurvePoint, Curves, Note, Reference, render_curves
from sitegen.render.figures.heat import Heat, HeatCell, render_heat
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import short_name
from sitegen.render.measurements.provenance import Provenance
from sitegen.render.shared import numbers
from sitegen.results.cell_tables import Entry

MOST_DESCRIBED = 32
"""The most points in the description of a chart; the table has all."""
LOG_FROM = 8.0
"""The factor between the largest and the smallest value from which on an axis is logarithmic."""
GPU = "gpu"
"""The column of the name of the GPU, which plots of several GPUs have."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the points of a plot."""

    title: str
    """The title of its axis: `TB/s: bytes that must move ÷ time`."""
    unit: str = ""
    """The unit of its numbers: `TB/s`."""


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """A measured point: its values by column, and what it is in words."""

    words: str
    """`UNROLL 4, THREADS 1024`."""
    values: Mapping[str, Entry]
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The ends of its whisker, by column."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """The values of the lines at this point, such as that of the ceiling, by the name of the line."""
    href: str = ""
    stale: bool = False
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plot: its name, its class, and whether it has another value at each point."""

    name: str
    class_: str
    varies: bool = False


@dataclass(frozen=True, slots=True)
class PlotData:
    """The measurements of one GPU as points."""

    gpu: str
    """The product name of the GPU: `NVIDIA H200`."""
    record: str
    """The record of its figures, for `sitegen verify`: `softmax nvidia-h200`."""
    subject: str
    """What was measured: `softmax/fused`."""
    points: tuple[PlotPoint, ...]
    columns: Mapping[str, Column]
    table: tables.Table | None = None
    lines: tuple[Line, ...] = ()
    caption: str = ""
    stale: str = ""
    """The reason for which all of it is stale; empty for measurements of the present code."""
    provenance: tuple[Provenance, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences below the figure."""


@dataclass(frozen=True, slots=True)
class PlotAxes:
    """The columns of a plot, and how they are drawn."""

    x: str
    y: tuple[str, ...]
    kind: str
    curves: tuple[str, ...] = ()
    panels: str = ""
    value: str = ""
    log: tuple[str, ...] | None = None
    """The logarithmic axes; None: those whose values span a factor of LOG_FROM or more."""
    x_title: str = ""
    y_title: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()
    """The columns of the ends of the whiskers, where the points do not have them."""
    order: tuple[str, ...] = ()
    """The names that an axis shows in this order, before other names."""

    @property
    def heights(self) -> tuple[str, ...]:
        """The columns of the quantity."""
        return (self.value,) if self.kind == "heat" else self.y


def charts(axes: PlotAxes, shown: PlotData, others: Sequence[PlotData], id: str) -> tuple[Markup, ...]:
    """Return the charts of a plot, one for each panel; those of `others` have the same axes."""
    every = (shown, *others)
    names = _distinct(every, axes.panels, axes.order) if axes.panels else ("",)
    makers = [_Chart(axes, one, every, name) for one in every for name in names]
    filled = [maker for maker in makers if maker.points]
    return tuple(
        maker.drawn(f"{id}-c{n}" if axes.panels else id, [one for one in filled if one is not maker])
        for n, maker in enumerate(filled)
        if maker.data is shown
    )


def together(every: Sequence[PlotData]) -> PlotData:
    """Return what several GPUs measured as one, with a column for the name of the GPU."""
    first = every[0]
    shared = _equal_lines(every)
    names = [
        (line, line.name if line.name in shared else f"{line.name} {short_name(one.gpu)}")
        for one in every
        for line in one.lines
    ]
    lines = tuple({name: replace(line, name=name) for line, name in names}.values())
    return replace(
        first,
        gpu=" and ".join(one.gpu for one in every),
        record=first.record.rpartition(" ")[0] or first.record,
        points=tuple(_on_gpu(point, short_name(one.gpu), shared) for one in every for point in one.points),
        table=_merged([(one.gpu, one.table) for one in every if one.table]),
        lines=lines,
        stale="; ".join(dict.fromkeys(one.stale for one in every if one.stale)),
        provenance=tuple(line for one in every for line in one.provenance),
        notes=tuple(dict.fromkeys(note for one in every for note in one.notes)),
    )


def _equal_lines(every: Sequence[PlotData]) -> frozenset[str]:
    """Return the names of the lines that have one value, the same on all GPUs, such as 100 % of the ceiling."""
    values: dict[str, set[float]] = {}
    for point in (point for one in every for point in one.points):
        for name, value in point.beside.items():
            values.setdefault(name, set()).add(value)
    return frozenset(name for name, found in values.items() if len(found) == 1)


def _on_gpu(point: PlotPoint, gpu: str, shared: Collection[str]) -> PlotPoint:
    beside = {name if name in shared else f"{name} {gpu}": value for name, value in point.beside.items()}
    return replace(point, words=f"{gpu}, {point.words}", values={GPU: gpu, **point.values}, beside=beside)


def _merged(found: Sequence[tuple[str, tables.Table]]) -> tables.Table | None:
    """Return one table with the rows of each GPU below its name; columns that not all have are left out."""
    if not found:
        return None
    shared = [head for head in found[0][1].headings if all(head in table.headings for _, table in found)]
    bodies = []
    for gpu, table in found:
        kept = [table.headings.index(head) for head in shared]
        lines = (line for body in table.bodies for line in body.lines)
        cut = tuple(replace(one, cells=tuple(one.cells[at] for at in kept) if one.cells else ()) for one in lines)
        bodies.append(tables.Body(name=gpu, lines=cut))
    return replace(found[0][1], headings=tuple(shared), bodies=tuple(bodies))


def _distinct(every: Sequence[PlotData], column: str, order: Sequence[str]) -> tuple[Entry, ...]:
    """Return the values of a column: numbers ascending, else words in `order`, others in the order of the points."""
    found = dict.fromkeys(point.values[column] for one in every for point in one.points if column in point.values)
    if all(_is_number(value) for value in found):
        return tuple(sorted(found))
    places = {name: place for place, name in enumerate(order)}
    return tuple(sorted(found, key=lambda value: places.get(str(value), len(places))))


def _is_number(value: Entry) -> bool:
    return not isinstance(value, str)


@dataclass(frozen=True, slots=True, eq=False)
class _Chart:
    """One chart: the points of one GPU, and of one panel where there are panels."""

    axes: PlotAxes
    data: PlotData
    every: Sequence[PlotData]
    panel: Entry = ""

    @property
    def points(self) -> tuple[PlotPoint, ...]:
        """The points that have a value on each axis."""
        axes = self.axes
        wanted = {axes.x, *((*axes.y, axes.value) if axes.kind == "heat" else ())}
        return tuple(
            point
            for point in self.data.points
            if wanted <= set(point.values)
            and any(_is_number(point.values.get(name, "")) for name in axes.heights)
            and (not axes.panels or point.values.get(axes.panels) == self.panel)
        )

    def distinct(self, column: str) -> tuple[Entry, ...]:
        return _distinct(self.every, column, self.axes.order)

    @property
    def by_name(self) -> bool:
        """Whether the values of the horizontal axis are names."""
        return any(isinstance(value, str) for value in self.distinct(self.axes.x))

    def drawn(self, id: str, beside: Sequence[_Chart]) -> Markup:
        if self.axes.kind == "heat":
            return render_heat(self.heat(), id=id, beside=[one.heat() for one in beside])
        draw = render_bars if self.by_name and self.axes.kind == "bar" else render_curves
        return draw(self.curves(), id=id, beside=[one.curves() for one in beside])

    def title(self, quantity: str, over: str) -> str:
        within = f", {self._named(self.axes.panels, self.panel)}" if self.axes.panels else ""
        return f"{quantity} over {over}: {self.data.subject}{within} on {self.data.gpu}"

    def curves(self) -> Curves:
        axes, points = self.axes, self.points
        names = self.distinct(axes.x) if self.by_name else ()
        shown = tuple(self._curves(points, names))
        first = self._column(axes.y[0])
        panel = f"{self._named(axes.panels, self.panel)}; " if axes.panels else ""
        return Curves(
            title=self.title(axes.y_title or first.title, axes.x_title or axes.x),
            about="; ".join(point.words for curve in shown for point in curve.points[:MOST_DESCRIBED]) + ".",
            x_title=axes.x_title or self._column(axes.x).title,
            y_title=f"{panel}{axes.y_title or first.title}",
            curves=shown,
            references=tuple(self._references(points)),
            kind=CurveKind(axes.kind),
            log_x=not names and self._is_log("x", (axes.x,)),
            log_y=self._is_log("y", axes.y),
            notes=tuple(self._notes(points, names)),
            x_names=tuple(map(str, names)),
        )

    def heat(self) -> Heat:
        axes = self.axes
        columns = [self._name(value) for value in self.distinct(axes.x)]
        rows = [self._name(value) for value in self.distinct(axes.y[0])]
        quantity = self._column(axes.value)
        cells = tuple(self._heat_cell(point, quantity) for point in self.points)
        y_title = axes.y_title or self._column(axes.y[0]).title
        return Heat(
            title=self.title(quantity.title, f"{axes.x_title or axes.x} and {axes.y[0]}"),
            x_title=axes.x_title or self._column(axes.x).title,
            y_title=f"{y_title}; in the cells, {quantity.title}",
            columns=columns,
            rows=rows if all(_is_number(v) is False for v in self.distinct(axes.y[0])) else rows[::-1],
            cells=cells,
        )

    def _heat_cell(self, point: PlotPoint, quantity: Column) -> HeatCell:
        axes, value = self.axes, point.values[self.axes.value]
        height = float(value) if not isinstance(value, str) else 0.0
        return HeatCell(
            column=self._name(point.values[axes.x]),
            row=self._name(point.values[axes.y[0]]),
            value=height,
            written=numbers.significant(height, 3),
            words=f"{point.words}: {_with_unit(height, quantity.unit)}",
            href=point.href,
            stale=point.stale,
        )

    def _name(self, value: Entry) -> str:
        return value if isinstance(value, str) else size_number(value)

    def _named(self, column: str, value: Entry) -> str:
        """Return a value with its column where the value alone says nothing: `UNROLL 4`, but `fused`."""
        return value if isinstance(value, str) else f"{column} {self._name(value)}"

    def _column(self, name: str) -> Column:
        return self.data.columns.get(name, Column(name))

    def _is_log(self, axis: str, columns: Sequence[str]) -> bool:
        values = [v for one in self.every for p in one.points for c in columns if _is_number(v := p.values.get(c, ""))]
        sizes = [float(value) for value in values]
        if not sizes or min(sizes) <= 0:
            return False
        return axis in self.axes.log if self.axes.log is not None else max(sizes) >= LOG_FROM * min(sizes)

    def _curves(self, points: Sequence[PlotPoint], names: Sequence[Entry]) -> Iterator[Curve]:
        """Yield a curve for each combination of the values that tell curves apart, and for each quantity."""
        axes = self.axes
        several = len(axes.y) > 1
        for quantity in axes.y:
            made: dict[str, list[CurvePoint]] = {}
            for point in points:
                name = ", ".join(self._named(one, point.values[one]) for one in axes.curves if one in point.values)
                place = names.index(point.values[axes.x]) if names else point.values[axes.x]
                height = point.values.get(quantity, "")
                if not isinstance(height, str) and not isinstance(place, str):
                    label = ", ".join(filter(None, (quantity if several else "", name)))
                    made.setdefault(label, []).append(self._point(point, quantity, float(place), float(height)))
            yield from (Curve(name, tuple(sorted(of_name, key=lambda one: one.x))) for name, of_name in made.items())

    def _point(self, point: PlotPoint, quantity: str, x: float, y: float) -> CurvePoint:
        ends = [float(end) for name in self.axes.ends if not isinstance(end := point.values[name], str)]
        low, high = (min(ends), max(ends)) if ends else point.ends.get(quantity, (y, y))
        words = f"{point.words}: {_with_unit(y, self._column(quantity).unit)}"
        return CurvePoint(
            x, y, low, high, f"{words}{', stale' if point.stale else ''}", point.href, point.stale, point.is_baseline
        )

    def _references(self, points: Sequence[PlotPoint]) -> Iterator[Reference]:
        for line in self.data.lines:
            by_x: dict[float, list[float]] = {}
            for point in points:
                place = point.values[self.axes.x]
                if line.name in point.beside:
                    at = 0.0 if isinstance(place, str) or not line.varies else float(place)
                    by_x.setdefault(at, []).append(point.beside[line.name])
            if by_x:
                yield Reference(line.name, line.class_, tuple((x, median(ys)) for x, ys in sorted(by_x.items())))

    def _notes(self, points: Sequence[PlotPoint], names: Sequence[Entry]) -> Iterator[Note]:
        """Yield the words of the author at the highest point of the place that they name."""
        quantity = self.axes.y[0]
        for place, words in self.axes.notes:
            heights = [
                (float(height), names.index(at) if names else float(at))
                for point in points
                if _is_place(at := point.values[self.axes.x], place)
                and not isinstance(height := point.values.get(quantity, ""), str)
            ]
            if heights:
                y, x = max(heights)
                yield Note(words, x, y)


def _is_place(value: Entry, written: str) -> bool:
    if isinstance(value, str):
        return value == written
    try:
        return float(written) == float(value)
    except ValueError:
        return False


def _with_unit(value: float, unit: str) -> str:
    whole = value == int(value) and abs(value) >= 1
    text = numbers.fixed(value, 0) if whole else numbers.significant(value, 3)
    return numbers.with_unit(text, unit) if unit else text
