"""Write the tables that cells put out: an entry within a sentence, and a table below its cell."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import OutputSlot
from sitegen.model.record import CellRecord
from sitegen.model.site import Post
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.results.cell_tables import CellTable, Entry, entry_of, tables_of

DIGITS = 3
"""The digits of a figure: two runs of the same code differ in the fourth."""
UNITS = {"us": "µs", "1/us": "1/µs", "x": "×"}
"""The units that a cell writes in ASCII."""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of a cell as text."""

    headings: tuple[str, ...]
    """The names of the columns, with their units."""
    rows: tuple[tuple[str, ...], ...]


def shown_table(table: CellTable) -> ShownTable:
    """Return the entries of a table with three digits, without their units, which the headings name."""
    headings = tuple(title_of(table, column) for column in table.columns)
    return ShownTable(headings, tuple(tuple(written(entry, "") for entry in row) for row in table.rows))


def record_name(post: Post, record: CellRecord) -> str:
    """Return the name of a cell's record in `data-record`; the name in front of the GPU is that of its job."""
    return f"posts/{post.slug} {record.gpu}"


def written(entry: Entry, unit: str) -> str:
    """Return an entry with its unit and three digits: `18.2 ns`, `264`, `spinning`."""
    if isinstance(entry, str):
        return entry
    exact = isinstance(entry, int) or (entry == int(entry) and abs(entry) >= 10**DIGITS)
    text = numbers.fixed(entry, 0) if exact else _three_digits(entry)
    return numbers.with_unit(text, UNITS.get(unit, unit)) if unit else text


def _three_digits(entry: float) -> str:
    """Return three digits, `0.0284`; below 0.0001 in exponent form, `4.72e-6`, as on the axis of a chart."""
    if not 0 < abs(entry) < 1e-4:
        return numbers.significant(entry, DIGITS)
    mantissa, _, exponent = f"{entry:.{DIGITS - 1}e}".partition("e")
    return f"{mantissa.replace('-', numbers.MINUS)}e{int(exponent)}"


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


def _record(printer: Printer, post: Post | None, cell: str) -> CellRecord | None:
    """Return the record of a cell on the first GPU of the site that has one."""
    return next(iter(printer.sources.cell_records(post.slug, cell)), None) if post else None


def title_of(table: CellTable, column: str) -> str:
    """Return the name of a column with its unit: `latency, ns`."""
    unit = table.unit(column)
    return f"{column}, {UNITS.get(unit, unit)}" if unit not in ("", column) else column
