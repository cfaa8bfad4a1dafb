"""The role and the directive for outputs of cells say what is missing in what their author wrote."""

from __future__ import annotations

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.document import CellChartSlot, OutputSlot
from sitegen.model.site import Markdown


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("{output}`levels:L1`\n", "SG135"),
        ("{output}`a:b:c / d:e:f / g:h:i`\n", "SG135"),
        ("```{cell-chart} levels\n:x: size\n```\n", "SG111"),
        ("```{cell-chart} levels\n:x: start\n:y: [end]\n:kind: spans\n```\n", "SG111"),
        ("```{cell-chart} levels\n:x: size\n:y: [rate]\n:kind: pie\n```\n", "SG105"),
    ],
)
def test_what_names_no_entry_or_no_columns_is_a_mistake(markdown: str, code: str) -> None:
    assert [mistake.code for mistake in parse_document(Markdown(markdown, "a.md"))[1]] == [code]


def test_a_quotient_has_two_places_and_a_chart_its_columns() -> None:
    markdown = "{output}`a:the row:time / b:L1:time`\n\n```{cell-chart} a\n:x: size\n:y: time, rate\n```\n"
    document, mistakes = parse_document(Markdown(markdown, "a.md"))
    assert mistakes == ()
    output, chart = document.slots
    assert isinstance(output, OutputSlot)
    assert output.places == (("a", "the row", "time"), ("b", "L1", "time"))
    assert isinstance(chart, CellChartSlot)
    assert (chart.cell, chart.x, chart.y, chart.number) == ("a", "size", ("time", "rate"), "Figure 1")
