"""The table of a cell is shown below the cell, as a chart, and entry by entry within sentences."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.model.record import Output
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.measurements.cell_outputs import shown_table, written
from sitegen.render.outputs.page_figures import figures_of_page
from sitegen.results.cell_tables import CellTable

TEXT = """L1 answers in {output}`first-look:L1:latency`, the L2 {output}`first-look:L2:latency / first-look:L1:latency`
as late. On {output}`first-look:L3:latency` nothing is known, nor on {output}`never-run:L1:latency`.

```{code-cell} python
#| label: first-look
print(1)
```

```{code-cell} python
#| label: never-run
print(2)
```

```{plot} #first-look
:x: bytes
:y: [latency, guess]
:log: x
:label: fig-steps
:caption: Steps.
```

```{plot} #first-look
:x: nothing
:y: [latency]
```
"""
LEVELS = """{"columns": ["level", "bytes", "latency", "guess"], "units": ["", "B", "ns", "ns"],
"rows": [["L1", 1024, 18.26, 20], ["L2", 4096, 120.0, 100]]}"""


SPANS = """{"columns": ["span", "place", "from", "to"], "units": ["", "", "cycles", "cycles"],
"rows": [["copy 1", "stage 1", 0, 20], ["sum 1", "arithmetic", 20, 30], ["copy 2", "stage 0", 5, 25]]}"""


def rendered(make: SimpleNamespace, levels: str = LEVELS, text: str = TEXT) -> str:
    site = make.site()
    posts = tuple(
        replace(post, body=replace(post.body, text=text)) if post.slug == "softmax" and not post.lang else post
        for post in site.posts
    )
    cell = replace(make.cell, outputs=(Output("data", levels),))
    records = replace(make.records(make.record()), cells={("softmax", "first-look", make.gpu): cell})
    return str(make.rendered(replace(site, posts=posts), Evidence(records))["posts/softmax/index.html"])


def test_only_the_first_cell_of_a_post_says_how_to_run_them_all(make: SimpleNamespace) -> None:
    page = LexborHTMLParser(rendered(make))
    lines = [line.parent.attributes["id"] for line in page.css(".cell > p.run") if line.parent]
    assert lines == ["first-look"]
    assert [file.attributes["href"] for file in page.css("#first-look > p.run a")]


def test_the_table_of_a_cell_is_shown_as_table_chart_and_figures(make: SimpleNamespace) -> None:
    html = rendered(make)
    page = LexborHTMLParser(html)
    figures = [(link.text(), link.attributes["href"]) for link in page.css("p a.figure")]
    assert figures == [("18.3\u00a0ns", "#first-look"), ("6.57\u00a0×", "#first-look")]
    assert [absent.text() for absent in page.css("p .figure-absent")] == ["[not measured yet]"] * 2
    heads = [head.text() for head in page.css("#first-look thead th")]
    assert heads == ["level", "bytes, B", "latency, ns", "guess, ns"]
    rows = [[entry.text() for entry in row.css("th, td")] for row in page.css("#first-look tbody tr")]
    assert rows == [["L1", "1024", "18.3", "20"], ["L2", "4096", "120", "100"]]
    assert (
        page.css("#fig-steps svg desc")[0].text()
        == "L1: 18.3\u00a0ns; L2: 120\u00a0ns; L1: 20\u00a0ns; L2: 100\u00a0ns."
    )
    assert page.css("p.absent")[0].text().startswith("Figure 2. Not measured yet: the cell first-look.")
    assert {one.record for one in figures_of_page(html) if "ns" in one.words} == {f"posts/softmax {make.gpu}"}


def test_a_column_without_a_name_has_no_heading_that_a_screen_reader_would_announce(make: SimpleNamespace) -> None:
    page = LexborHTMLParser(rendered(make, LEVELS.replace('"level"', '""')))
    head = page.css_first("#first-look thead tr")
    assert [cell.tag for cell in head.css("th, td")] == ["td", "th", "th", "th"]


def test_spans_stand_on_lines_in_the_order_of_their_names(make: SimpleNamespace) -> None:
    plot = "```{plot} #first-look\n:kind: spans\n:x: from\n:y: [to, place]\n:label: fig-spans\n:caption: Copies.\n```\n"
    text = "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\n" + plot
    page = LexborHTMLParser(rendered(make, SPANS, text))
    assert page.css_first("#fig-spans svg desc").text().startswith("3 spans on 3 lines (arithmetic, stage 0, stage 1)")
    assert page.css_first("#fig-spans details.numbers") is None  # the cell prints the same numbers


@pytest.mark.parametrize(
    ("entry", "shown"),
    [(0.0284, "0.0284"), (1e-4, "0.000100"), (4.719e-6, "4.72e-6"), (-4.34e-8, "−4.34e-8"), (0.0, "0"), (0, "0")],
)
def test_an_entry_below_a_ten_thousandth_is_in_exponent_form(entry: float, shown: str) -> None:
    assert written(entry, "") == shown


@pytest.mark.parametrize(
    ("entry", "unit", "text"),
    [
        (0.000107, "s", "107\u00a0µs"),
        (0.016, "s", "16.0\u00a0ms"),
        (2.5, "s", "2.50\u00a0s"),
        (18_288_738_304, "B", "18.3\u00a0GB"),
        (131_584, "B", "131,584\u00a0B"),
        (0, "s", "0\u00a0s"),
        ("none", "s", "none"),
    ],
)
def test_seconds_and_bytes_are_written_in_the_unit_that_makes_them_short(
    entry: str | float, unit: str, text: str
) -> None:
    assert written(entry, unit) == text


def test_a_column_has_one_unit_in_which_no_entry_is_below_one() -> None:
    rows = (("slow", 1.25, 512), ("fast", 0.0043, 4_000_000), ("none", 0.0, 0))
    shown = shown_table(CellTable(("run", "time", "memory"), ("", "s", "B"), rows))
    assert shown.headings == ("run", "time, ms", "memory, B")
    assert shown.rows == (("slow", "1250", "512"), ("fast", "4.30", "4,000,000"), ("none", "0", "0"))
