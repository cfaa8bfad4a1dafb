"""Turn the table that a cell put out into the points of a plot, or into spans of time or the levels of a chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from sitegen.model.document import PlotSlot
from sitegen.model.record import CellRecord
from sitegen.model.site import Post
from sitegen.render.figures.chip import Level, render_chip
from sitegen.render.figures.spans import Span, Spans, render_spans
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.cell_outputs import UNITS, record_name, shown_table, title_of, written
from sitegen.render.measurements.gpus import name_of
from sitegen.render.measurements.plot_points import Column, PlotAxes, PlotData, PlotPoint
from sitegen.render.measurements.provenance import provenance
from sitegen.results.cell_tables import CellTable, Entry, tables_of

DRAWN = ("spans", "chip")
"""Kinds of chart that are no points on two axes."""


def cell_data(
    sources: Sources, post: Post, slot: PlotSlot, prefix: str
) -> tuple[PlotAxes | None, Mapping[str, PlotData]]:
    """Return the axes and what each GPU measured, by the id of the GPU; no axes when no GPU ran the cell."""
    found = {
        record.gpu: _data(post, record, table, f"{prefix}-{record.gpu}") for record, table in cells(sources, post, slot)
    }
    return (_axes(slot) if found else None), found


def cells(sources: Sources, post: Post, slot: PlotSlot) -> Iterator[tuple[CellRecord, CellTable]]:
    """Yield the record of the cell on each GPU, with the table that has the columns of the plot."""
    own = {*slot.curves, *slot.ends, *filter(None, [slot.x, slot.panels, slot.value])}
    for record in sources.cell_records(post.slug, slot.cell):
        table = next((one for one in tables_of(record) if {*own, *slot.y} <= set(one.columns) and one.rows), None)
        if table:
            yield record, table


def drawn(slot: PlotSlot, record: CellRecord, table: CellTable, id: str) -> Markup:
    """Return a chart of one of the kinds `DRAWN`."""
    return (_spans if slot.kind == "spans" else _chip)(slot, table, record, id)


def _axes(slot: PlotSlot) -> PlotAxes:
    return PlotAxes(
        x=slot.x,
        y=slot.y,
        kind=slot.kind or "line",
        curves=slot.curves,
        panels=slot.panels,
        value=slot.value,
        log=slot.log or (),
        x_title=slot.x_title,
        y_title=slot.y_title,
        notes=slot.notes,
        ends=slot.ends,
    )


def _data(post: Post, record: CellRecord, table: CellTable, id: str) -> PlotData:
    return PlotData(
        gpu=name_of(record.run.environment.gpu, record.gpu),
        record=record_name(post, record),
        subject=f"the cell {record.label}",
        points=tuple(_point(table, row) for row in table.rows),
        columns={name: _column(table, name) for name in table.columns},
        table=_table(table, record, id),
        provenance=(provenance(record.run),),
    )


def _column(table: CellTable, name: str) -> Column:
    unit = table.unit(name)
    return Column(title_of(table, name), UNITS.get(unit, unit))


def _point(table: CellTable, row: tuple[Entry, ...]) -> PlotPoint:
    return PlotPoint(str(row[0]), dict(zip(table.columns, row, strict=True)))


def _table(table: CellTable, record: CellRecord, id: str) -> tables.Table:
    shown = shown_table(table)
    lines = tuple(tables.Line(f"{id}-p{n}", row[0], "", "", row[1:]) for n, row in enumerate(shown.rows))
    first, *headings = shown.headings
    return tables.Table(
        f"{id}-n",
        f"Table of the cell {record.label}",
        "",
        tuple(map(tables.Heading, headings)),
        (tables.Body(lines=lines),),
        (),
        wide=False,
        first=first,
    )


def _spans(slot: PlotSlot, table: CellTable, record: CellRecord, id: str) -> Markup:
    columns = (table.column(table.columns[0]), table.column(slot.x), *map(table.column, slot.y))
    names = tuple(sorted({line for line in table.column(slot.y[1]) if isinstance(line, str)}))
    spans = tuple(
        Span(str(name), float(start), float(end), names.index(line) if isinstance(line, str) else int(line))
        for name, start, end, line in zip(*columns, strict=True)
        if not isinstance(start, str) and not isinstance(end, str)
    )
    title = f"{table.columns[0]}s on each {slot.y[1]} over time, on {record.run.environment.gpu}"
    x_title, y_title = slot.x_title or title_of(table, slot.x), slot.y_title or slot.y[1]
    return render_spans(Spans(title, spans, table.columns[0], x_title, y_title, names), id=id)


def _chip(slot: PlotSlot, table: CellTable, record: CellRecord, id: str) -> Markup:
    facts = [[written(entry, table.unit(name)) for entry in table.column(name)] for name in slot.y]
    names = table.column(slot.x)
    levels = tuple(Level(str(name), ", ".join(of_level)) for name, *of_level in zip(names, *facts, strict=True))
    return render_chip(f"Where a number lives on {record.run.environment.gpu}", levels, id=id)
