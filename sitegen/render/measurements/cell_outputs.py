"""Write the tables that cells put out: an entry within a sentence, a table below its cell, a chart of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import CellChartSlot, OutputSlot
from sitegen.model.record import CellRecord
from sitegen.model.site import Post
from sitegen.render.figures.chip import Level, render_chip
from sitegen.render.figures.curves import Curve, CurveKind, CurvePoint, Curves, render_curves
from sitegen.render.figures.spans import Span, Spans, render_spans
from sitegen.render.measurements.provenance import Provenance, provenance
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.placeholder import absent
from sitegen.results.cell_tables import CellTable, Entry, entry_of, tables_of

DIGITS = 3
"""The digits of a figure: two runs of the same code differ in the fourth."""
UNITS = {"us": "µs", "1/us": "1/µs", "x": "×"}
"""The units that a cell writes in ASCII."""
MOST_DESCRIBED = 40
"""The most points in the description of a chart; the table below the cell has all."""


@dataclass(frozen=True, slots=True)
class ChartView:
    """The chart of a table for its template."""

    id: str
    record: str
    """The record of its figures, for `sitegen verify`: `posts/first-kernel nvidia-h200`."""
    chart: Markup
    label: str
    caption: str
    provenance: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of a cell as text."""

    headings: tuple[str, ...]
    """The names of the columns, with their units."""
    rows: tuple[tuple[str, ...], ...]


def shown_table(table: CellTable) -> ShownTable:
    """Return the entries of a table with three digits, without their units, which the headings name."""
    headings = tuple(_title(table, column) for column in table.columns)
    return ShownTable(headings, tuple(tuple(written(entry, "") for entry in row) for row in table.rows))


def record_name(post: Post, record: CellRecord) -> str:
    """Return the name of a cell's record in `data-record`; the name in front of the GPU is that of its job."""
    return f"posts/{post.slug} {record.gpu}"


def written(entry: Entry, unit: str) -> str:
    """Return an entry with its unit and three digits: `18.2 ns`, `264`, `spinning`."""
    if isinstance(entry, str):
        return entry
    exact = isinstance(entry, int) or (entry == int(entry) and abs(entry) >= 10**DIGITS)
    text = numbers.fixed(entry, 0) if exact else numbers.significant(entry, DIGITS)
    return numbers.with_unit(text, UNITS.get(unit, unit)) if unit else text


def render_output(printer: Printer, slot: OutputSlot, post: Post | None, spoken: PageLanguage) -> Markup:
    """Return a figure of a cell as a link to the cell, or the statement that it is missing."""
    record, text = output_text(printer, slot, post)
    if record is None or post is None:
        why = spoken.say("not measured yet")
        return Markup('<span class="figure-absent" title="{}">[{}]</span>').format(slot.written, why)
    return Markup('<a class="figure" href="#{}" data-record="{}">{}</a>').format(
        slot.places[0][0], record_name(post, record), text
    )


def output_text(printer: Printer, slot: OutputSlot, post: Post | None) -> tuple[CellRecord | None, str]:
    """Return the record of a figure and the figure as text; no record and no text when it is missing."""
    found: list[tuple[CellRecord, Entry, str]] = []
    for cell, row, column in slot.places:
        record = _record(printer, post, cell)
        known = entry_of(tables_of(record), row, column) if record else None
        if record is None or known is None:
            return None, ""
        found.append((record, *known))
    record, entry, unit = found[0]
    if len(found) == 1:
        return record, written(entry, unit)
    _, below, _ = found[1]
    if isinstance(entry, str) or isinstance(below, str) or not below:
        return None, ""
    return record, numbers.with_unit(numbers.significant(entry / below, DIGITS), "×")


def render_chart(printer: Printer, slot: CellChartSlot, post: Post | None, here: str, prefix: str) -> Markup:
    """Return the chart of a cell's table, or the statement that the cell has not run."""
    record = _record(printer, post, slot.cell)
    wanted = {slot.x, *slot.y}
    table = next((one for one in tables_of(record) if wanted <= set(one.columns)), None) if record else None
    if post is None or record is None or table is None or not table.rows:
        return absent(printer, f"Not measured yet: the cell {slot.cell}.", slot.number, slot.label)
    id = slot.label or f"{prefix}-chart"
    draw = {"spans": _spans, "chip": _chip}.get(slot.kind, _curves)
    view = ChartView(
        id=id,
        record=record_name(post, record),
        chart=draw(slot, table, record, id),
        label=f"{slot.number}." if slot.number else "",
        caption=slot.caption,
        provenance=(provenance(record.run),),
    )
    return printer.fragment("partials/cell_chart.html", view, post.lang)


def _record(printer: Printer, post: Post | None, cell: str) -> CellRecord | None:
    """Return the record of a cell on the first GPU of the site that has one."""
    return next(iter(printer.sources.cell_records(post.slug, cell)), None) if post else None


def _curves(slot: CellChartSlot, table: CellTable, record: CellRecord, id: str) -> Markup:
    curves = tuple(Curve(name if len(slot.y) > 1 else "", tuple(_points(table, slot.x, name))) for name in slot.y)
    about = "; ".join(point.words for curve in curves for point in curve.points[:MOST_DESCRIBED])
    chart = Curves(
        title=f"{', '.join(slot.y)} over {slot.x} on {record.run.environment.gpu}",
        about=f"{about}.",
        x_title=slot.x_title or _title(table, slot.x),
        y_title=slot.y_title or _title(table, slot.y[0]),
        curves=curves,
        kind=CurveKind(slot.kind),
        log_x="x" in slot.log,
        log_y="y" in slot.log,
    )
    return render_curves(chart, id=id)


def _points(table: CellTable, x: str, y: str) -> Iterator[CurvePoint]:
    """Yield the points of a curve by ascending x; rows without two numbers are left out."""
    rows = zip(table.rows, table.column(x), table.column(y), strict=True)
    numbered = [
        (at, height, row[0]) for row, at, height in rows if not isinstance(at, str) and not isinstance(height, str)
    ]
    for at, height, name in sorted(numbered, key=lambda one: one[0]):
        words = f"{name}: {written(height, table.unit(y))}"
        yield CurvePoint(float(at), float(height), float(height), float(height), words)


def _spans(slot: CellChartSlot, table: CellTable, record: CellRecord, id: str) -> Markup:
    columns = (table.column(table.columns[0]), table.column(slot.x), *map(table.column, slot.y))
    spans = tuple(
        Span(str(name), float(start), float(end), int(line))
        for name, start, end, line in zip(*columns, strict=True)
        if not isinstance(start, str) and not isinstance(end, str) and not isinstance(line, str)
    )
    title = f"{table.columns[0]}s on each {slot.y[1]} over time, on {record.run.environment.gpu}"
    return render_spans(
        Spans(title, spans, table.columns[0], slot.x_title or _title(table, slot.x), slot.y_title or slot.y[1]), id=id
    )


def _chip(slot: CellChartSlot, table: CellTable, record: CellRecord, id: str) -> Markup:
    facts = [[written(entry, table.unit(name)) for entry in table.column(name)] for name in slot.y]
    names = table.column(slot.x)
    levels = tuple(Level(str(name), ", ".join(of_level)) for name, *of_level in zip(names, *facts, strict=True))
    return render_chip(f"Where a number lives on {record.run.environment.gpu}", levels, id=id)


def _title(table: CellTable, column: str) -> str:
    unit = table.unit(column)
    return f"{column}, {UNITS.get(unit, unit)}" if unit not in ("", column) else column
