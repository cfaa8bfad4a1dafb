"""Figures to explore: one figure for each value, of which one is shown, and a table of all values."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document
from sitegen.markup.pieces import Pieces
from sitegen.model.site import Markdown

POST = "content/posts/tiles.md"
STRIDE = """\
````{explore} Stride in elements
:values: 1..3, 32
:start: 2
```{memory-access}
:stride: {x}
:fig-cap: A warp reads.
:label: fig-stride
```
````
"""
FLIGHT = """\
```{bytes-in-flight}
:bandwidth: 4.8 TB/s
:latency: 650 ns
:sms: 132
:threads: 2048
:bytes: 8
```
"""
INTENSITY = """\
```{intensity}
:bandwidth: 4 TB/s
:compute: 64 TFLOP/s
:operations: 8
:bytes: 1
```
"""


def read(text: str) -> tuple[LexborHTMLParser, list[Diagnostic]]:
    document, mistakes = parse_document(Markdown(text, POST))
    return LexborHTMLParser(document.html), list(mistakes)


def places(text: str) -> list[tuple[str, int, str]]:
    return [(mistake.code, mistake.span.line, mistake.message) for mistake in read(text)[1]]


def facts(page: LexborHTMLParser) -> dict[str, str]:
    return {term.text(): term.next.text() for term in page.css("dl.plate dt") if term.next}


def test_the_head_of_the_column_of_values_stands_above_them() -> None:
    """A column of names is set to the left, and its head must not stand at the right."""
    heads = read(STRIDE)[0].css(".numbers thead th")
    assert [(head.text(), head.attributes.get("class")) for head in heads][:2] == [
        ("Stride in elements", "l"),
        ("moved", None),
    ]


def test_one_figure_is_shown_and_the_others_wait_for_the_slider() -> None:
    page, mistakes = read(STRIDE)
    figures = page.css("figure > [data-x]")
    assert mistakes == []
    assert [one.attributes["data-x"] for one in figures] == ["1", "2", "3", "32"]
    assert [one.attributes["data-x"] for one in figures if "hidden" not in one.attributes] == ["2"]
    assert [len(one.css("svg")) for one in figures] == [1, 1, 1, 1]
    slider = page.css_first(".knob input").attributes
    assert (slider["max"], slider["value"]) == ("3", "1") and "hidden" in slider
    assert page.css_first("label").attributes["for"] == slider["id"]
    assert page.css_first(".knob").text().split() == ["Stride", "in", "elements:", "2"]


def test_the_table_compares_what_differs_between_the_values() -> None:
    page, _ = read(STRIDE)
    head, *rows = ([cell.text() for cell in row.css("th, td")] for row in page.css("details tr"))
    assert head == ["Stride in elements", "moved", "cache lines", "efficiency"], "all ask for the same bytes"
    assert rows[0] == ["1", "4 sectors, 128 bytes", "1", "100 %"]
    assert rows[-1] == ["32", "32 sectors, 1024 bytes", "32", "12.5 %"]


def test_the_figure_has_one_caption_and_one_number() -> None:
    page, mistakes = read(STRIDE + "\nSee @fig-stride.\n")
    assert mistakes == []
    assert len(page.css("figcaption")) == len(page.css("#fig-stride")) == 1
    assert page.css_first("a[href='#fig-stride']").text() == "Figure\u00a01"


def test_the_value_may_stand_in_the_argument_and_in_stages() -> None:
    swizzled, mistakes = read(
        "````{explore} Bits\n:values: 0, 5\n```{layout} Swizzle<{x},0,5> o (32,32):(32,1)\n:banks: 4\n```\n````\n"
    )
    assert mistakes == []
    columns = [row.css("td")[-1].text() for row in swizzled.css("details tbody tr")]
    assert columns == ["1 for 32 elements", "32 for 32 elements"]
    staged, mistakes = read(
        "````{explore} Buffers\n:values: 1, 2\n```{timeline}\ntiles: 4\nbuffers: {x}\nstages: {a: 2, b: 3}\n```\n````\n"
    )
    assert mistakes == []
    assert [row.css("td")[0].text() for row in staged.css("details tbody tr")] == ["20 steps", "14 steps"]


def test_two_figures_to_explore_have_sliders_with_different_ids() -> None:
    page, _ = read(STRIDE.replace(":label: fig-stride\n", "") * 2)
    first, second = (one.attributes["id"] for one in page.css(".knob input"))
    assert first != second


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "words", "hint"),
    [
        ("{memory-access}", "{memory-acess}", "SG101", 4, "unknown figure to explore `memory-acess`", "memory-access"),
        ("{memory-access}", "{roofline} softmax", "SG101", 4, "unknown figure to explore `roofline`", "layout"),
        (":values:", ":valeus:", "SG103", 2, "unknown option of `{explore}` `valeus`", "values"),
        (":start: 2", ":start: 33", "SG105", 3, "option `start`: unknown value `33`", "did you mean `3`"),
        ("1..3, 32", "3..1, 32", "SG105", 2, "option `values`: the range `3..1` is empty", "1..3"),
        ("1..3, 32", "1..100", "SG105", 2, "option `values`: more than 40 values", "fewer"),
        ("1..3, 32", "1..3, 2", "SG105", 2, "option `values`: `2` is given twice", ""),
        ("1..3, 32", "2", "SG105", 2, "option `values`: expected two values or more", "1..8"),
        ("1..3, 32", "1, 2, ab", "SG105", 5, "option `stride`: expected a whole number (where `{x}` is `ab`)", ""),
        (" Stride in elements", "", "SG111", 1, "needs the name of what varies", "Stride"),
        (":stride: {x}", ":stride: 2", "SG111", 4, "the figure in `{explore}` has no `{x}`", ":stride: {x}"),
        (":stride: {x}", ":strid: {x}", "SG103", 5, "unknown option of `{memory-access}` `strid`", "stride"),
    ],
)
def test_a_mistake_names_its_line_and_what_to_write(
    old: str, new: str, code: str, line: int, words: str, hint: str
) -> None:
    first = read(STRIDE.replace(old, new))[1][0]
    assert (first.code, first.span.line) == (code, line)
    assert words in first.message and hint in first.hint


@pytest.mark.parametrize("inside", ["", "A sentence.\n", "```{memory-access}\n:stride: {x}\n"])
def test_text_that_is_no_figure_is_a_mistake(inside: str) -> None:
    assert places(f"````{{explore}} Stride\n:values: 1, 2\n{inside}````\n") == [
        ("SG111", 1, "the directive `{explore}` needs one figure in it")
    ]


def test_pictures_are_not_drawn_again_when_the_text_around_them_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = Pieces()
    whole, _ = parse_document(Markdown(STRIDE, POST), pieces=pieces)
    monkeypatch.setattr("sitegen.markup.drawn.explore._states", lambda *_: ())
    again, _ = parse_document(Markdown("Words.\n\n" + STRIDE, POST), pieces=Pieces(pieces.used))
    assert whole.html in again.html


def test_bytes_in_flight_follow_littles_law() -> None:
    page, mistakes = read(FLIGHT)
    assert mistakes == []
    shown = facts(page)
    needed = 4.8e12 * 650e-9 / 132
    assert shown["needed on an SM"] == f"{needed / 1024:.3g} KB"
    assert shown["bandwidth at most"] == f"{4.8 * 2048 * 8 / needed:.3g} TB/s, {100 * 2048 * 8 / needed:.3g} %"
    assert facts(read(FLIGHT.replace("bytes: 8", "bytes: 64"))[0])["bandwidth at most"] == "4.8 TB/s, 100 %"


def test_intensity_below_the_bend_is_limited_by_the_memory() -> None:
    assert facts(read(INTENSITY)[0]) == {
        "intensity": "8 / 1 = 8 operations a byte",
        "where the roof bends": "16 operations a byte",
        "arithmetic at most": "32 TFLOP/s, 50 %",
        "limited by": "the memory",
    }
    assert facts(read(INTENSITY.replace(": 8", ": 17"))[0])["limited by"] == "the arithmetic"


def test_the_axes_have_the_powers_of_ten_and_fit_into_a_phone() -> None:
    svg = read(FLIGHT)[0].css_first("svg")
    assert [node.text() for node in svg.css("text.mid")] == ["0.1", "1", "10", "100", "KB in flight on an SM"]
    assert [node.text() for node in svg.css("text.e")] == ["1 %", "10 %", "100 %"]
    assert float(svg.attributes["width"] or 0) <= 358


@pytest.mark.parametrize("times", [2**-12, 2**9])
def test_a_point_beyond_the_axis_stands_at_its_end_and_the_note_says_so(times: float) -> None:
    page, _ = read(INTENSITY.replace("64 TFLOP/s", f"{8 * 4 / times} TFLOP/s"))
    left, right = 48, 340
    assert float(page.css_first("circle").attributes["cx"] or 0) in (left, right)
    assert "it lies outside" in page.css_first(".prov").text()


@pytest.mark.parametrize(
    ("text", "old", "new", "code", "words", "hint"),
    [
        (FLIGHT, "4.8 TB/s", "4.8 TBs", "SG105", "option `bandwidth`: unknown unit `TBs`", "TB/s"),
        (FLIGHT, "4.8 TB/s", "4800", "SG105", "expected a number above 0 with its unit, `4.8 TB/s`", ""),
        (FLIGHT, "650 ns", "0 ns", "SG105", "option `latency`: expected a number above 0 with its unit", ""),
        (FLIGHT, ":sms: 132", ":sms: 0", "SG105", "option `sms`: expected a whole number above 0", ""),
        (FLIGHT, ":sms: 132\n", "", "SG111", "the directive `{bytes-in-flight}` needs 1 more option", ":sms: …"),
        (INTENSITY, ":compute:", ":computes:", "SG103", "unknown option of `{intensity}` `computes`", "compute"),
    ],
)
def test_a_wrong_limit_is_reported(text: str, old: str, new: str, code: str, words: str, hint: str) -> None:
    found = next(one for one in read(text.replace(old, new))[1] if one.code == code)
    assert words in found.message and hint in found.hint
