"""Turn the evaluations of a kernel into the points of a plot: any figure of an evaluation over any other.

A column is `implementation`, `workload`, `dtype`, a dim or a param of the kernel, a formula over dims, or a figure that
`{value}` shows, such as `bandwidth`, `x torch` or `instructions HGMMA`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.document import PlotSlot
from sitegen.model.dtypes import DTYPES
from sitegen.model.figure_table import FIGURES, FIGURES_WITH_NAME, OTHER_NAMES, Unit
from sitegen.model.formula import FormulaError, evaluate
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role
from sitegen.model.value import CellName, FigureReference, Source
from sitegen.render.inputs.rows import Group, Row, select_groups
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import gpu_name
from sitegen.render.measurements.plot_points import LOG_FROM, Column, Line, PlotAxes, PlotData, PlotPoint
from sitegen.render.measurements.provenance import provenances
from sitegen.render.shared import numbers
from sitegen.render.shared.figure_text import figure_text
from sitegen.results.cell_tables import Entry
from sitegen.results.quantities import Quantity, figure_on

SCALES: Mapping[Unit, tuple[str, float]] = {
    Unit.MICROSECONDS: ("µs", 1.0),
    Unit.BYTES_PER_S: ("TB/s", 1e12),
    Unit.FLOPS_PER_S: ("TFLOP/s", 1e12),
    Unit.BYTES: ("MB", 1e6),
    Unit.SHARE: ("%", 0.01),
    Unit.RATIO: ("×", 1.0),
    Unit.MEGAHERTZ: ("MHz", 1.0),
    Unit.WATTS: ("W", 1.0),
}
"""The unit of an axis, and what one of it is in the unit of the figure."""
SMALL = ("spills", "shared")
"""Figures in bytes that are so small that their axis is in KB."""
TITLES: Mapping[str, str] = {
    "of-ceiling": "share of the ceiling",
    "of-copy": "share of the copy",
    "of-read": "share of the reading probe",
    "of-sustained": "share of the sustained ceiling",
    "error": "relative error",
    "spills": "bytes spilled",
    "shared": "shared memory of a block",
    "dram-bytes": "DRAM traffic",
    "re-read": "DRAM traffic ÷ least bytes",
}
"""The words for figures in the titles of axes; others have their own name."""
WHISKERS = f" Whiskers reach over the 95{numbers.NBSP}% interval."
RISING = ("bandwidth", "operations", "of-ceiling", "of-copy", "of-read", "of-sustained", "x", "occupancy")
"""Figures whose axis begins at 0, because the reader compares heights."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One evaluation with its figures."""

    group: Group
    row: Row
    figures: Mapping[str, Quantity]


def evaluation_data(
    sources: Sources, kernel: Kernel, slot: PlotSlot, here: str, id_of: Callable[[str], str]
) -> tuple[PlotAxes | None, Mapping[str, PlotData]]:
    """Return the axes and what each GPU measured, by the id of the GPU; no axes when no GPU has a point.

    `id_of` gives the prefix of the ids of the rows for a GPU.
    """
    found = [(record, _found(sources, kernel, record, slot)) for record in sources.records(kernel.name)]
    every = [one for _, of_record in found for one in of_record]
    if not every:
        return None, {}
    axes = _axes(kernel, slot, every)
    return axes, {
        record.gpu: _data(sources, kernel, record, slot, axes, of_record, here, id_of(record.gpu))
        for record, of_record in found
        if of_record
    }


def _found(sources: Sources, kernel: Kernel, record: Record, slot: PlotSlot) -> list[_Found]:
    return [
        _Found(group, row, {name: _figure(sources, kernel, record, group, row, name) for name in _figures_in(slot)})
        for group, row in rows_of_slot(sources, kernel, record, slot)
    ]


def rows_of_slot(sources: Sources, kernel: Kernel, record: Record, slot: PlotSlot) -> list[tuple[Group, Row]]:
    """Return the timed rows that `{plot}` shows of a record, each with its group.

    Within a group, they have the order of `implementations`.
    """
    dtypes = slot.dtypes or (() if _uses(slot, "dtype") else kernel.dtypes[:1])
    return [
        (group, row)
        for group in select_groups(sources.groups(record), slot.workloads, dtypes)
        for row in _in_order(group.rows, slot.implementations)
        if row.role is not Role.PROBE and row.performance
    ]


def _in_order(rows: Sequence[Row], names: Sequence[str]) -> Sequence[Row]:
    """Return the rows of the names, in their order; without names, all rows."""
    places = {name: place for place, name in enumerate(names)}
    return sorted((row for row in rows if row.name in places), key=lambda row: places[row.name]) if names else rows


def _uses(slot: PlotSlot, column: str) -> bool:
    return column in (slot.x, *slot.y, slot.panels, *slot.curves)


def _figures_in(slot: PlotSlot) -> tuple[str, ...]:
    """Return the columns of a plot that are figures, as the author wrote them."""
    written = dict.fromkeys(filter(None, (slot.x, *_quantities(slot), *slot.y)))
    return tuple(name for name in written if _figure_name(name)[0] in {*FIGURES, *FIGURES_WITH_NAME})


def _quantities(slot: PlotSlot) -> tuple[str, ...]:
    return (slot.value,) if slot.kind == "heat" else slot.y or ("of-ceiling",)


def _figure_name(written: str) -> tuple[str, str]:
    """Return the name of a figure and the name behind it: `x` and `torch`."""
    name, _, argument = written.partition(" ")
    return OTHER_NAMES.get(name, name), argument


def _figure(sources: Sources, kernel: Kernel, record: Record, group: Group, row: Row, written: str) -> Quantity:
    name, argument = _figure_name(written)
    params = tuple((param, str(value)) for param, value in group.params.items())
    cell = CellName(group.workload.name, group.dtype, params)
    reference = FigureReference(Source.EVALUATION, name, kernel.name, row.name, cell, argument)
    return figure_on(reference, sources.recorded, record.gpu)


def _axes(kernel: Kernel, slot: PlotSlot, every: Sequence[_Found]) -> PlotAxes:
    """Return the axes: without a wish, the share of the ceiling of each implementation, or over the first size."""
    x = slot.x or _first_size(kernel, every) or "implementation"
    kind = slot.kind or ("bar" if x in ("implementation", "workload", "dtype") else "line")
    y = slot.y if kind == "heat" else _quantities(slot)
    names = [("implementation", {one.row.name for one in every}), ("dtype", {one.group.dtype for one in every})]
    names.append(("workload", {one.group.workload.name for one in every}))
    shown = {x, *y, slot.panels}
    is_size = x not in ("implementation", "workload", "dtype") and _figure_name(x)[0] not in FIGURES
    rest = [name for name, values in names if len(values) > 1 and name not in shown]
    if is_size or kind == "heat":
        rest = [name for name in rest if name != "workload"]
    return PlotAxes(
        x=x,
        y=y,
        kind=kind,
        curves=slot.curves or (() if kind == "heat" else tuple(rest)),
        panels=slot.panels,
        value=slot.value,
        log=slot.log if slot.log is not None else _wide_axes(kernel, x, y, every),
        x_title=slot.x_title,
        y_title=slot.y_title,
        notes=slot.notes,
        order=slot.implementations,
    )


def _first_size(kernel: Kernel, every: Sequence[_Found]) -> str:
    """Return the first dim that differs between the workloads; empty when none does."""
    sizes = [one.group.workload.dims for one in every]
    return next((dim for dim in kernel.dims if len({of.get(dim) for of in sizes}) > 1), "")


def _wide_axes(kernel: Kernel, x: str, y: Sequence[str], every: Sequence[_Found]) -> tuple[str, ...]:
    """Return the axes whose values span a large factor."""

    def is_wide(name: str) -> bool:
        values = [float(v) for one in every if not isinstance(v := _value(kernel, one, name), str | None)]
        return bool(values) and min(values) > 0 and max(values) >= LOG_FROM * min(values)

    rising = any(_figure_name(name)[0] in RISING for name in y)
    return (*(["x"] if is_wide(x) else []), *(["y"] if not rising and any(map(is_wide, y)) else []))


def _value(kernel: Kernel, one: _Found, column: str) -> Entry | None:
    """Return the value of a column in the unit of its axis; None when the evaluation has none."""
    group = one.group
    words = {"implementation": one.row.name, "workload": numbers.shape(group.workload.name), "dtype": group.dtype}
    if column in words:
        return words[column]
    if column in one.figures:
        quantity = one.figures[column]
        return None if quantity.value is None else quantity.value / _scale(column, quantity.unit)[1]
    if column in group.params:
        value = group.params[column]
        return value if isinstance(value, str) else str(value) if isinstance(value, bool) else value
    try:
        return evaluate(column, {"itemsize": DTYPES[group.dtype].itemsize, **group.workload.dims})
    except FormulaError:
        return None


def _scale(column: str, unit: Unit) -> tuple[str, float]:
    return ("KB", 1e3) if _figure_name(column)[0] in SMALL else SCALES.get(unit, ("", 1.0))


def _data(
    sources: Sources,
    kernel: Kernel,
    record: Record,
    slot: PlotSlot,
    axes: PlotAxes,
    found: Sequence[_Found],
    here: str,
    id: str,
) -> PlotData:
    columns = {name: _column(name, found) for name in (axes.x, *axes.y, *filter(None, [axes.value]))}
    groups = tuple({id_: one.group for one in found if (id_ := (one.group.workload.name, one.group.dtype))}.values())
    return PlotData(
        gpu=gpu_name(record),
        record=f"{kernel.name} {record.gpu}",
        subject=kernel.name,
        points=tuple(_point(kernel, axes, one, f"{id}-p{n}") for n, one in enumerate(found)),
        columns=columns,
        table=_table(kernel, found, id),
        lines=tuple(_lines(kernel, axes)),
        caption=_caption(kernel, axes, columns, found),
        provenance=provenances(sources, record, groups, here),
    )


def _column(name: str, found: Sequence[_Found]) -> Column:
    if name not in found[0].figures:
        return Column(name)
    unit, _ = _scale(name, found[0].figures[name].unit)
    title = title_of(name)
    return Column(f"{title}, {unit}" if unit else title, unit)


def title_of(column: str) -> str:
    """Return the words for a column: `time of torch ÷ time` for `x torch`."""
    name, argument = _figure_name(column)
    if name == "x":
        return f"time of {argument} ÷ time"
    return TITLES.get(name, f"{name} {argument}".strip())


def _caption(kernel: Kernel, axes: PlotAxes, columns: Mapping[str, Column], found: Sequence[_Found]) -> str:
    quantity = " and ".join(map(title_of, axes.heights))
    over = f"{axes.x} and {axes.y[0]}" if axes.kind == "heat" else title_of(axes.x)
    dtypes, workloads = {one.group.dtype for one in found}, {one.group.workload.name for one in found}
    at = f" at {numbers.shape(min(workloads))}" if len(workloads) == 1 else ""
    of = f" in {min(dtypes)}" if len(dtypes) == 1 else ""
    whiskers = "" if axes.kind == "heat" else WHISKERS
    return f"{quantity[:1].upper()}{quantity[1:]} over {over}: {kernel.name}{at}{of}.{whiskers}"


def _point(kernel: Kernel, axes: PlotAxes, one: _Found, id: str) -> PlotPoint:
    wanted = {
        "implementation",
        "dtype",
        "workload",
        axes.x,
        *axes.y,
        *axes.curves,
        *filter(None, [axes.value, axes.panels]),
    }
    found = {name: value for name in sorted(wanted) if (value := _value(kernel, one, name)) is not None}
    ends = {
        name: (quantity.low / scale, quantity.high / scale)
        for name, quantity in one.figures.items()
        if quantity.is_known and (scale := _scale(name, quantity.unit)[1])
    }
    return PlotPoint(
        words=_words(one),
        values=found,
        ends=ends,
        beside=dict(_beside(kernel, axes, one)),
        href=f"#{id}",
        stale=bool(one.row.stale),
        is_baseline=not one.row.ours,
    )


def _words(one: _Found) -> str:
    params = [f"{name} {value}" for name, value in one.group.params.items()]
    return ", ".join((one.row.name, numbers.shape(one.group.workload.name), one.group.dtype, *params))


def _beside(kernel: Kernel, axes: PlotAxes, one: _Found) -> Iterator[tuple[str, float]]:
    """Yield the value of the ceiling at an evaluation, for a quantity that has one."""
    name, limits, cost = _figure_name(axes.heights[0])[0], one.group.limits, one.group.cost
    if name == "of-ceiling" and one.group.ceiling[0]:
        yield "ceiling", 100.0
    elif name == "bandwidth" and limits.bytes_per_s:
        yield "ceiling", limits.bytes_per_s / 1e12
    elif name == "operations" and limits.flops_per_s:
        yield "ceiling", limits.flops_per_s / 1e12
    elif name == "time" and limits.floor_us(cost):
        yield "ceiling", limits.floor_us(cost)
    elif name == "x":
        yield _figure_name(axes.heights[0])[1], 1.0


def _lines(kernel: Kernel, axes: PlotAxes) -> Iterator[Line]:
    name, argument = _figure_name(axes.heights[0])
    if name == "x":
        yield Line(argument, "axis")
    elif axes.kind != "heat":
        yield Line("ceiling", "roof", varies=name == "time")


def _table(kernel: Kernel, found: Sequence[_Found], id: str) -> tables.Table:
    """Return the points as a table, with a column for each figure."""
    figures = list(found[0].figures)
    lines = tuple(
        tables.Line(
            f"{id}-p{n}",
            _words(one),
            "stale" if one.row.stale else "ours" if one.row.ours else "base",
            "",
            tuple(figure_text(one.figures[name]) if one.figures[name].is_known else "" for name in figures),
        )
        for n, one in enumerate(found)
    )
    headings = tuple(tables.Heading(name) for name in figures)
    body = (tables.Body(lines=lines),)
    return tables.Table(f"{id}-n", f"Points of {kernel.name}", "", headings, body, (), wide=False, first="evaluation")
