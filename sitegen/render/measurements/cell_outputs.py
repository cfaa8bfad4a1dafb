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
SCALES = {"s": ((1.0, "s"), (1e-3, "ms"), (0.0, "us")), "B": ((1e9, "GB"), (1e6, "MB"), (0.0, "B"))}
"""The units for seconds and bytes, each with the smallest entry for which it is used."""
_SIZES = {"ms": 1e-3, "us": 1e-6, "GB": 1e9, "MB": 1e6}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of a cell as text."""

    headings: tuple[str, ...]
    """The names of the columns, with their units."""
    rows: tuple[tuple[str, ...], ...]


def shown_table(table: CellTable) -> ShownTable:
    """Return the entries of a table with three digits, without their units, which the headings name."""
    units = tuple(map(_unit_for, table.units, (table.column(name) for name in table.columns)))
    headings = tuple(map(_title, table.columns, units))
    rows = tuple(tuple(map(_number, row, table.units, units)) for row in table.rows)
    return ShownTable(headings, rows)


def record_name(post: Post, record: CellRecord) -> str:
    """Return the name of a cell's record in `data-record`; the name in front of the GPU is that of its job."""
    return f"posts/{post.slug} {record.gpu}"


def written(entry: Entry, unit: str) -> str:
    """Return an entry with its unit and three digits: `18.2 ns`, `264`, `spinning`."""
    shown = _unit_for(unit, (entry,))
    text = _number(entry, unit, shown)
    return numbers.with_unit(text, UNITS.get(shown, shown)) if unit and not isinstance(entry, str) else text


def _unit_for(unit: str, entries: tuple[Entry, ...]) -> str:
    """Return the unit in which entries are short: milliseconds for 0.0043 and 0.016 seconds."""
    sizes = [abs(entry) for entry in entries if not isinstance(entry, str) and entry]
    least = min(sizes, default=1.0)
    return next((name for bound, name in SCALES.get(unit, ()) if least >= bound), unit)


def _number(entry: Entry, unit: str, shown: str) -> str:
    """Return an entry, whose unit is `unit`, with three digits in the unit `shown`."""
    if isinstance(entry, str):
        return entry
    if unit != shown:
        return _three_digits(entry / _SIZES[shown])
    exact = isinstance(entry, int) or (entry == int(entry) and abs(entry) >= 10**DIGITS)
    return numbers.fixed(entry, 0) if exact else _three_digits(entry)


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
    return _title(column, table.unit(column))


def _title(column: str, unit: str) -> str:
    return f"{column}, {UNITS.get(unit, unit)}" if unit not in ("", column) else column
