"""A table that a cell put out is read as it stands, and anything else is no table."""

from __future__ import annotations

import pytest

from sitegen.model.record import Output
from sitegen.results.cell_tables import CellTable, entry_of, table_of

LEVELS = '{"columns": ["level", "latency"], "units": ["", "ns"], "rows": [["L1", 18.25], ["L2", 120]]}'


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[1, 2]",
        '{"a": 1}',
        '{"columns": [], "units": [], "rows": []}',
        '{"columns": ["a"], "units": [], "rows": []}',
        '{"columns": ["a"], "units": [""], "rows": [[1, 2]]}',
        '{"columns": ["a"], "units": [""], "rows": [[null]]}',
        '{"columns": ["a"], "units": [""], "rows": [[NaN]]}',
        '{"columns": "a", "units": "b", "rows": [[1]]}',
    ],
)
def test_an_output_of_another_form_is_no_table(text: str) -> None:
    assert table_of(Output("data", text)) is None


def test_text_that_looks_like_a_table_is_text() -> None:
    assert table_of(Output("stream", LEVELS)) is None


def test_an_entry_is_found_by_its_row_and_column() -> None:
    table = table_of(Output("data", LEVELS))
    assert table == CellTable(("level", "latency"), ("", "ns"), (("L1", 18.25), ("L2", 120)))
    assert entry_of([table], "L2", "latency") == (120, "ns")
    assert entry_of([table], "L2", "level") == ("L2", "")
    assert entry_of([table], "L3", "latency") is None
    assert entry_of([table], "L2", "rate") is None
