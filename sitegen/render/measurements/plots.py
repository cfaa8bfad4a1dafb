"""Print `{plot}`: charts of a sweep, of the evaluations of a kernel, or of a table that a cell put out.

A table of all points is folded beneath.  The page of a kernel shows each of its sweeps in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.diagnostics import Span
from sitegen.model.document import PlotLine, PlotSlot
from sitegen.model.figure_table import Unit
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.site import Post
from sitegen.render.inputs.rows import Group
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.cell_plots import DRAWN, cell_data, cells, drawn
from sitegen.render.measurements.evaluation_plots import evaluation_data
from sitegen.render.measurements.gpus import gpu_name, in_tabs, label_on
from sitegen.render.measurements.plot_points import Line, PlotAxes, PlotData, charts, together
from sitegen.render.measurements.provenance import Provenance
from sitegen.render.measurements.sweep_plots import sweep_data
from sitegen.render.measurements.tables import Table
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent
from sitegen.results.quantities import quantity_of

UNITS: Mapping[str, tuple[Unit, float]] = {
    "TB/s": (Unit.BYTES_PER_S, 1e12),
    "GB/s": (Unit.BYTES_PER_S, 1e9),
    "TFLOP/s": (Unit.FLOPS_PER_S, 1e12),
    "GFLOP/s": (Unit.FLOPS_PER_S, 1e9),
    "ns": (Unit.MICROSECONDS, 1e-3),
    "µs": (Unit.MICROSECONDS, 1.0),
    "ms": (Unit.MICROSECONDS, 1e3),
    "B": (Unit.BYTES, 1.0),
    "KB": (Unit.BYTES, 1e3),
    "MB": (Unit.BYTES, 1e6),
    "GB": (Unit.BYTES, 1e9),
    "%": (Unit.SHARE, 0.01),
    "×": (Unit.RATIO, 1.0),
    "": (Unit.COUNT, 1.0),
    "W": (Unit.WATTS, 1.0),
    "MHz": (Unit.MEGAHERTZ, 1.0),
}
"""The unit of a figure that an axis can show, by the unit of the axis, and what one of the axis is in it."""


@dataclass(frozen=True, slots=True)
class PlotFigure:
    """A plot for its template."""

    id: str
    record: str
    """The record of its figures, for `sitegen verify`: `softmax nvidia-h200`."""
    label: str
    caption: str | Markup
    charts: tuple[Markup, ...]
    """The charts, one for each panel; none when no point has a time."""
    stale: str
    """The reason for which it is stale; empty for measurements of the present code."""
    points: Table | None
    provenance: tuple[Provenance, ...]
    notes: tuple[str, ...]


def render_slot(printer: Printer, slot: PlotSlot, post: Post | None, here: str, prefix: str) -> Markup:
    """Return the charts of each GPU, or the statement that nothing was measured."""
    sources = printer.sources
    kernel = sources.kernel(slot.kernel)
    if slot.cell:
        axes, found = cell_data(sources, post, slot, prefix) if post else (None, {})
        gpus = {gpu: data.gpu for gpu, data in found.items()}
    else:
        axes, found = _of_kernel(sources, kernel, slot, here, lambda gpu: f"{prefix}-{gpu}") if kernel else (None, {})
        gpus = {record.gpu: gpu_name(record) for record in sources.records(slot.kernel)}
    if axes is None or not found:
        return absent(printer, _not_measured(slot), slot.number, slot.label)
    found = {gpu: _with_lines(sources, slot, axes, data, gpu) for gpu, data in found.items()}
    if slot.together and len(found) > 1 and slot.kind not in DRAWN:
        merged = together(list(found.values()))
        both = replace(axes, curves=("gpu", *axes.curves) if axes.kind != "heat" else axes.curves)
        return _printed(printer, post, _figure(both, merged, slot, (), slot.label or prefix, slot.number))
    parts: dict[str, Markup] = {}
    for gpu, data in found.items():
        id = slot.label if slot.label and not parts else f"{prefix}-{gpu}"
        label = label_on(data.gpu, slot.number, several=len(gpus) > 1)
        others = tuple(other for other in found.values() if other is not data)
        figure = _figure(axes, data, slot, others, id, label)
        if slot.kind in DRAWN and post:
            record, table = next(one for one in cells(sources, post, slot) if one[0].gpu == gpu)
            printed = record is sources.cell_records(post.slug, slot.cell)[0]  # the cell shows the same numbers
            points = None if printed else figure.points
            figure = replace(figure, charts=(drawn(slot, record, table, id),), points=points)
        parts[gpu] = _printed(printer, post, figure)
    return in_tabs(printer, gpus, parts, prefix)


def sweep_figures(sources: Sources, kernel: Kernel, record: Record, here: str, prefix: str) -> tuple[PlotFigure, ...]:
    """Return a figure for each sweep that the record has, in the order of kernel.yaml."""
    figures = []
    several = len(sources.records(kernel.name)) > 1
    for sweep in kernel.sweeps:
        id = f"{prefix}-{sweep.name}"
        slot = PlotSlot(Span(""), kernel.name, sweep.name)
        axes, found = sweep_data(sources, kernel, slot, here, lambda _, id=id: id)  # type: ignore[misc]
        data = found.get(record.gpu)
        if axes and data:
            others = tuple(other for gpu, other in found.items() if gpu != record.gpu)
            label = label_on(data.gpu, "", several=several)
            figures.append(_figure(axes, data, slot, others, id, label))
    return tuple(figures)


def error_figure(
    sources: Sources, kernel: Kernel, record: Record, group: Group, here: str, id: str
) -> PlotFigure | None:
    """Return the share of the ceiling over the relative error at one workload and dtype; None for fewer than two
    implementations.
    """
    slot = PlotSlot(
        *(Span(""), kernel.name),
        kind="scatter",
        x="error",
        y=("of-ceiling",),
        workloads=(group.workload.name,),
        dtypes=(group.dtype,),
    )
    axes, found = evaluation_data(sources, kernel, slot, here, lambda gpu: f"{id}-{gpu}")
    data = found.get(record.gpu)
    if axes is None or data is None or sum({"error", "of-ceiling"} <= set(one.values) for one in data.points) < 2:
        return None
    others = tuple(other for gpu, other in found.items() if gpu != record.gpu)
    label = label_on(data.gpu, "", several=len(sources.records(kernel.name)) > 1)
    return _figure(axes, data, slot, others, id, label)


def _of_kernel(
    sources: Sources, kernel: Kernel, slot: PlotSlot, here: str, id_of: Callable[[str], str]
) -> tuple[PlotAxes | None, Mapping[str, PlotData]]:
    return (sweep_data if slot.sweep else evaluation_data)(sources, kernel, slot, here, id_of)


def _printed(printer: Printer, post: Post | None, figure: PlotFigure) -> Markup:
    return printer.fragment("partials/plot.html", figure, post.lang if post else "")


def _not_measured(slot: PlotSlot) -> str:
    if slot.cell:
        return f"Not measured yet: the cell {slot.cell}."
    what = f"the sweep {slot.sweep} of {slot.kernel}" if slot.sweep else slot.kernel
    return f"Not measured yet: {what}."


def _figure(
    axes: PlotAxes, data: PlotData, slot: PlotSlot, others: tuple[PlotData, ...], id: str, label: str
) -> PlotFigure:
    return PlotFigure(
        id=id,
        record=data.record,
        label=label if not label or label.endswith(".") else f"{label}.",
        caption=Markup(slot.caption) or data.caption,
        charts=() if slot.kind in DRAWN else charts(axes, data, others, id),
        stale=data.stale,
        points=data.table,
        provenance=data.provenance,
        notes=data.notes,
    )


def _with_lines(sources: Sources, slot: PlotSlot, axes: PlotAxes, data: PlotData, gpu: str) -> PlotData:
    """Return the points with the lines of the author; a sentence stands below for one that cannot be drawn."""
    unit = data.columns[axes.heights[0]].unit if axes.heights[0] in data.columns else ""
    for wanted in slot.lines:
        value = _height(sources, wanted, unit, gpu)
        if value is None:
            why = f"The line {wanted.name} is not drawn: it was not measured in {unit or 'the unit of the axis'}."
            data = replace(data, notes=(*data.notes, why))
            continue
        points = tuple(replace(one, beside={**one.beside, wanted.name: value}) for one in data.points)
        data = replace(data, points=points, lines=(*data.lines, Line(wanted.name, "level dash")))
    return data


def _height(sources: Sources, wanted: PlotLine, unit: str, gpu: str) -> float | None:
    """Return the height of a line in the unit of the axis; None when it was not measured or has another unit."""
    if isinstance(wanted.value, float):
        return wanted.value
    on_gpu = replace(
        wanted.value, references=tuple(replace(one, gpu=one.gpu or gpu) for one in wanted.value.references)
    )
    quantity, (of_axis, scale) = quantity_of(on_gpu, sources.recorded), UNITS.get(unit, (None, 1.0))
    return quantity.value / scale if quantity.value is not None and quantity.unit is of_axis else None
