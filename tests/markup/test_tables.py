"""Figures in a column of a table are aligned at their decimal points."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown


def column(*cells: str, rule: str = "---") -> list[tuple[str | None, str]]:
    """Return the class and the text of each cell in a table's second column."""
    rows = "\n".join(f"| x | {cell} |" for cell in cells)
    document, _ = parse_document(Markdown(f"| a | b |\n|---|{rule}|\n{rows}\n", "content/posts/a.md"))
    found = LexborHTMLParser(document.html).css("tbody td:nth-child(2)")
    return [(td.attributes.get("class"), td.text()) for td in found]


def test_column_with_a_word_in_it_stays_to_the_left() -> None:
    assert column("1.5", "fast") == [("l", "1.5"), ("l", "fast")]


def test_author_s_own_alignment_stays() -> None:
    assert column("1.5", "12", rule=":---") == [("l", "1.5"), ("l", "12")]


def test_figures_go_to_the_right_and_their_points_stand_under_one_another() -> None:
    assert column("1.5", "12", "0.125", "–") == [
        (None, "1.5\u2007\u2007"),
        (None, "12\u2008\u2007\u2007\u2007"),
        (None, "0.125"),
        (None, "–"),
    ]


@pytest.mark.parametrize("cells", [("1.5 ms", "2 s"), ("1.5×", "2 ms")])
def test_figures_with_different_units_are_not_padded(cells: tuple[str, ...]) -> None:
    assert column(*cells) == [(None, cell.replace(" ", "\u00a0")) for cell in cells]


def test_figures_with_one_unit_are() -> None:
    assert column("1.25 ms", "−3.5 ms") == [(None, "1.25\u00a0ms"), (None, "−3.5\u00a0ms\u2007")]
