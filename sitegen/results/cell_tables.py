"""Read the tables that cells put out as JSON, and find a figure in them by its row and column.

A table is `{"columns": ["level", "latency"], "units": ["", "ns"], "rows": [["L1", 18.2], …]}`.  The first column names
the row.  An output of any other form is no table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sitegen.model.record import CellRecord, Output

Entry = str | int | float


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table that a cell put out; every row has an entry for each column."""

    columns: tuple[str, ...]
    units: tuple[str, ...]
    """The unit of each column; empty for names and counts."""
    rows: tuple[tuple[Entry, ...], ...]

    def column(self, name: str) -> tuple[Entry, ...]:
        """Return the entries of a column from top to bottom; empty when there is no such column."""
        if name not in self.columns:
            return ()
        return tuple(row[self.columns.index(name)] for row in self.rows)

    def unit(self, name: str) -> str:
        """Return the unit of a column.  Raises ValueError when there is no such column."""
        return self.units[self.columns.index(name)]


def table_of(output: Output) -> CellTable | None:
    """Return the table of an output; None when the output has another form."""
    if output.kind != "data":
        return None
    try:
        found = json.loads(output.text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    columns, units, rows = _texts(found.get("columns")), _texts(found.get("units")), found.get("rows")
    if not columns or len(columns) != len(units) or not isinstance(rows, list):
        return None
    if not all(isinstance(row, list) and len(row) == len(columns) and all(map(_is_entry, row)) for row in rows):
        return None
    return CellTable(columns, units, tuple(map(tuple, rows)))


def tables_of(record: CellRecord) -> Iterator[CellTable]:
    """Yield the tables among the outputs of a cell, in order."""
    return (table for output in record.outputs if (table := table_of(output)))


def entry_of(tables: Iterable[CellTable], row: str, column: str) -> tuple[Entry, str] | None:
    """Return the entry in the first table that has the row and the column, with its unit; None without one."""
    for table in tables:
        if column not in table.columns:
            continue
        for one in table.rows:
            if str(one[0]) == row:
                return one[table.columns.index(column)], table.unit(column)
    return None


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts; empty for any other value."""
    return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else ()


def _is_entry(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))
