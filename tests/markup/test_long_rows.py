"""A row with more cells than the header of its table is a warning, because Markdown leaves the cells out."""

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown

TABLE = "| a | b |\n|---|---|\n"


def warnings(text: str) -> list[tuple[str, int, int, str]]:
    """Return the code, the line, the column and the message of each mistake."""
    found = parse_document(Markdown(text, "content/posts/a.md", 1))[1]
    return [(one.code, one.span.line, one.span.col, one.message) for one in found]


@pytest.mark.parametrize(
    "row",
    [
        "| 1 | 2 |",
        "1 | 2",
        "| 1 |",
        "| 1 | 2 | |",
        "| 1 | 2 | | ",
        r"| 1 | `x \| y` |",
        "| 1 | |",
    ],
)
def test_row_that_loses_no_words_is_silent(row: str) -> None:
    assert warnings(f"{TABLE}{row}\n") == []


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("| 1 | 2 | lost |", 11, "the row has 3 cells, and the table has 2: `lost` is not shown"),
        ("1 | 2 | lost", 9, "the row has 3 cells, and the table has 2: `lost` is not shown"),
        ("| 1 | `x | y` |", 12, "the row has 3 cells, and the table has 2: `y` is not shown"),
        ("| 1 | 1 | | 1 |", 13, "the row has 4 cells, and the table has 2: `1` is not shown"),
    ],
)
def test_row_that_loses_words_is_named_with_their_place(row: str, column: int, message: str) -> None:
    assert warnings(f"Before.\n\n{TABLE}| 1 | 2 |\n{row}\n") == [("SG143", 6, column, message)]


def test_row_within_a_quotation_a_list_or_a_directive_is_found() -> None:
    row = "| 1 | 2 | 3 |\n"
    quoted = "".join(f"> {line}\n" for line in (TABLE + row).splitlines())
    listed = "- x\n\n" + "".join(f"  {line}\n" for line in (TABLE + row).splitlines())
    assert [one[:3] for one in warnings(quoted)] == [("SG143", 3, 13)]
    assert [one[:3] for one in warnings(listed)] == [("SG143", 5, 13)]
    for signs in (":::", "```"):
        fenced = f"{signs}{{note}} N\n{TABLE}{row}{signs}\n"
        assert [one[:3] for one in warnings(fenced)] == [("SG143", 4, 11)]


def test_each_table_has_its_own_number_of_columns() -> None:
    wide = "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n"
    assert warnings(f"{TABLE}| 1 | 2 |\n\n{wide}") == []
    assert [one[1] for one in warnings(f"{wide}\n{TABLE}| 1 | 2 | 3 |\n\n{wide}")] == [7]
