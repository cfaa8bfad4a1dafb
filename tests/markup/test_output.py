"""The role and the directive for outputs of cells say what is missing in what their author wrote."""

from __future__ import annotations

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.document import OutputSlot, PlotSlot
from sitegen.model.site import Markdown


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("{output}`levels:L1`\n", "SG135"),
        ("{output}`a:b:c / d:e:f / g:h:i`\n", "SG135"),
        ("```{plot} #levels\n:x: size\n```\n", "SG111"),
        ("```{plot} #levels\n:x: start\n:y: [end]\n:kind: spans\n```\n", "SG111"),
        ("```{plot} #levels\n:x: size\n:y: [rate]\n:kind: pie\n```\n", "SG105"),
        ("```{plot} softmax\n:kind: heat\n:x: N\n```\n", "SG111"),
        ("```{plot} softmax\n:kind: chip\n:x: N\n```\n", "SG111"),
        ("```{plot} #levels\n:x: size\n:y: [rate]\n:dtypes: float32\n```\n", "SG111"),
        ("```{plot} softmax\n:gpus: apart\n```\n", "SG105"),
        ("```{plot} softmax\n:lines: {the ceiling: ceilng read}\n```\n", "SG105"),
    ],
)
def test_what_names_no_entry_or_no_columns_is_a_mistake(markdown: str, code: str) -> None:
    assert [mistake.code for mistake in parse_document(Markdown(markdown, "a.md"))[1]] == [code]


def test_a_quotient_has_two_places_and_a_chart_its_columns() -> None:
    markdown = "{output}`a:the row:time / b:L1:time`\n\n```{plot} #a\n:x: size\n:y: time, rate\n```\n"
    document, mistakes = parse_document(Markdown(markdown, "a.md"))
    assert mistakes == ()
    output, chart = document.slots
    assert isinstance(output, OutputSlot)
    assert output.places == (("a", "the row", "time"), ("b", "L1", "time"))
    assert isinstance(chart, PlotSlot)
    assert (chart.cell, chart.x, chart.y, chart.number) == ("a", "size", ("time", "rate"), "Figure 1")
