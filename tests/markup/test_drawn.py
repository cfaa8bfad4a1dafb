"""Computed figures: the directive, the figure, and the message for a mistake."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document
from sitegen.markup.pieces import Pieces
from sitegen.model.site import Markdown

POST = "content/posts/tiles.md"


def drawn(text: str) -> LexborHTMLParser:
    document, mistakes = parse_document(Markdown(text, POST))
    assert mistakes == ()
    assert " style=" not in document.html and "<style" not in document.html
    return LexborHTMLParser(document.html)


def facts(page: LexborHTMLParser) -> dict[str, str]:
    return {term.text(): term.next.text() for term in page.css("dl.plate dt") if term.next}


def mistakes(text: str) -> list[Diagnostic]:
    return list(parse_document(Markdown(text, POST))[1])


def places(text: str) -> list[tuple[str, int, int, str]]:
    return [(d.code, d.span.line, d.span.col, d.message) for d in mistakes(text)]


def table(page: LexborHTMLParser) -> list[list[str]]:
    return [[cell.text() for cell in row.css("th, td")] for row in page.css("details tbody tr")]


def test_a_layout_is_a_grid_with_its_indices_and_the_same_as_a_table() -> None:
    page = drawn("```{layout} Swizzle<3,0,3> o (8,8):(8,1)\n```\n")
    rows = table(page)
    assert rows[0] == ["0", *map(str, range(8))] and rows[1] == ["1", "9", "8", "11", "10", "13", "12", "15", "14"]
    assert {int(cell) for row in rows for cell in row[1:]} == set(range(64))
    assert len(page.css("svg text.i tspan")) == 64
    assert "8 rows of 8" in (page.css_first("svg[role=img]").attributes["aria-label"] or "")


def test_a_layout_with_a_thread_in_each_of_32_columns_is_as_wide_as_the_text_and_its_margin() -> None:
    svg = drawn("```{layout} (3,32):(32,1)\n:threads: (3,32):(32,1)\n```\n").css_first("svg[role=img]")
    assert float(svg.attributes["width"] or 0) <= 944


def test_words_of_the_author_stand_in_place_of_those_computed() -> None:
    page = drawn("```{layout} (2,2)\n:fig-alt: A tile\n:fig-cap: By `column`, $x$.\n:label: fig-tile\n```\n")
    assert page.css_first("svg").attributes["aria-label"] == "A tile"
    assert page.css_first("#fig-tile figcaption code").text() == "column"
    assert page.css_first("#fig-tile figcaption math") is not None


def test_the_accumulator_of_an_mma_shows_threads_and_values() -> None:
    rows = table(drawn("```{layout} (16,8)\n:tv: ((4,8),(2,2)):((32,1),(16,8))\n```\n"))
    assert rows[0][1:4] == ["T0 V0", "T0 V1", "T1 V0"]
    assert rows[9][1] == "T4 V2"


def test_threads_are_repeated_over_a_larger_tile() -> None:
    rows = table(drawn("```{layout} (4,4)\n:threads: (2,2):(2,1)\n```\n"))
    assert [row[1:] for row in rows] == [["T0", "T1"] * 2, ["T2", "T3"] * 2] * 2


def test_elements_that_share_a_word_share_a_bank() -> None:
    rows = table(drawn("```{layout} (2,64):(64,1)\n:banks: 2\n```\n"))
    assert rows[0][1:] == [str(n // 2) for n in range(64)] and rows[1][1:] == rows[0][1:]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("```{layout} (8,8):(8\n```\n", ("SG130", 1, 21, "this is no layout: expected `,` or `)`")),
        (
            "```{layout} (8,(2,4)):(8,1)\n```\n",
            (
                "SG130",
                1,
                26,
                "this is no layout: the shape `(2,4)` has 2 modes and its stride `1` is one number",
            ),
        ),
        ("```{layout} (64,64)\n```\n", ("SG130", 1, 13, "this layout has 4096 elements")),
        ("```{layout} (2,2,2)\n```\n", ("SG130", 1, 13, "this layout has 3 modes")),
        ("```{layout}\n```\n", ("SG111", 1, 4, "the directive `{layout}` needs a layout, `{layout} (8,8):(8,1)`")),
        (
            "```{layout} (2,2)\n:threads: (2,2\n```\n",
            ("SG105", 2, 11, "option `threads`: this is no layout: expected `,` or `)`"),
        ),
        (
            "```{layout} (2,2)\n:banks: 3\n```\n",
            ("SG105", 2, 9, "option `banks`: expected the bytes of an element: 1, 2, 4, 8 or 16"),
        ),
        (
            "```{layout} (2,2)\n:banks: 2\n:tv: (2,2)\n```\n",
            ("SG110", 2, 9, "`tv` and `banks`: a layout is shown in one way"),
        ),
        ("```{layout} (2,2)\n:swizle: 2\n```\n", ("SG103", 2, 2, "unknown option of `{layout}` `swizle`")),
        (
            "```{memory-access}\n:address: lane * 4 +\n```\n",
            ("SG131", 2, 21, "this is no formula: expected a number or a name"),
        ),
        (
            "```{memory-access}\n:address: 4 * thread\n```\n",
            ("SG131", 2, 15, "this is no formula: unknown name `thread`"),
        ),
        (
            "```{memory-access}\n:address: lane / 2\n```\n",
            ("SG131", 2, 11, "this is no formula: lane / 2 is 0.5, not a whole number"),
        ),
        (
            "```{memory-access}\n:address: lane * 4 - 4\n```\n",
            ("SG131", 2, 11, "lane 0 is at byte -4, outside of any memory"),
        ),
        (
            "```{memory-access}\n:address: lane * 4\n:width: 16\n```\n",
            ("SG131", 2, 11, "lane 1 asks for 16 bytes at byte 4"),
        ),
        (
            "```{memory-access}\n:width: 4\n```\n",
            ("SG111", 1, 4, "the directive `{memory-access}` needs the address of each lane"),
        ),
        (
            "```{memory-access}\n:stride: 1\n:address: lane\n```\n",
            ("SG111", 2, 10, "the directive `{memory-access}` has both `address` and `stride`"),
        ),
        (
            "```{memory-access}\n:stride: 1\n:memory: local\n```\n",
            ("SG105", 3, 10, "option `memory`: unknown memory `local`"),
        ),
        (
            "```{memory-access}\n:layout: (32,32)\n:at: lane, 0, 0\n```\n",
            ("SG131", 3, 6, "a coordinate of this layout has 2 numbers, or 1"),
        ),
        (
            "```{memory-access}\n:layout: (32,32)\n:at: 0, 2 * lane\n```\n",
            ("SG131", 3, 9, "lane 16 is at 32, and this mode has 32"),
        ),
        (
            "```{memory-access}\n:layout: (32,32)\n:at: 0, max(lane, 0) + q\n```\n",
            ("SG131", 3, 24, "this is no formula: unknown name `q`"),
        ),
        ("```{timeline}\n```\n", ("SG111", 1, 4, "the directive `{timeline}` needs its stages")),
        ("```{timeline}\ntiles: 0\nstages: {copy: 1}\n```\n", ("SG132", 2, 8, "`tiles` is 1 or more")),
        (
            "```{timeline}\ntiles: 2\nstages:\n  copy: 0\n```\n",
            ("SG132", 4, 9, "stage `copy`: steps are 1 or more, buffers 0 or more"),
        ),
        (
            "```{timeline}\ntiles: 2\nstages:\n  copy: 1\n  compute: {steps: 2, after: [cpy]}\n```\n",
            ("SG014", 5, 31, "unknown earlier stage `cpy`"),
        ),
        ("- ```{timeline}\n  tiles: 2\n  stage: {copy: 1}\n  ```\n", ("SG012", 3, 3, "unknown key `stage`")),
        (
            "```{timeline}\ntiles: 2000\nstages: {copy: 2}\n```\n",
            ("SG132", 2, 8, "more than 2000 steps: no figure shows them"),
        ),
        ("```{timeline}\ntiles: 2\nstages: {}\n```\n", ("SG132", 3, 9, "there is no stage")),
        ("```{timeline}\ntiles: [\n```\n", ("SG002", 2, 9, "invalid YAML: expected a value")),
    ],
)
def test_a_mistake_has_its_place(text: str, place: tuple[str, int, int, str]) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    ("options", "sectors", "efficiency"),
    [
        (":stride: 1", "4 sectors, 128 bytes", "100 %"),
        (":stride: 2", "8 sectors, 256 bytes", "50 %"),
        (":stride: 32", "32 sectors, 1024 bytes", "12.5 %"),
        (":address: lane * 4 + 4", "5 sectors, 160 bytes", "80 %"),
        (":address: 64", "1 sector, 32 bytes", "12.5 %"),
        (":address: lane * 16\n:width: 16", "16 sectors, 512 bytes", "100 %"),
    ],
)
def test_sectors_and_efficiency_are_computed(options: str, sectors: str, efficiency: str) -> None:
    found = facts(drawn(f"```{{memory-access}}\n{options}\n```\n"))
    assert (found["moved"], found["efficiency"]) == (sectors, efficiency)


@pytest.mark.parametrize(
    ("layout", "conflict"),
    [("(32,32):(32,1)", "32-way"), ("(32,32):(33,1)", "none"), ("Swizzle<5,0,5> o (32,32):(32,1)", "none")],
)
def test_a_column_of_a_tile_in_shared_memory(layout: str, conflict: str) -> None:
    page = drawn(f"```{{memory-access}}\n:layout: {layout}\n:at: lane, 0\n:memory: shared\n```\n")
    assert facts(page)["bank conflict"] == conflict


def test_lanes_of_one_word_are_said_to_share_it() -> None:
    page = drawn("```{memory-access}\n:address: lane // 2 * 4\n:memory: shared\n```\n")
    assert facts(page) == {"bank conflict": "none", "passes": "1, at best 1"}
    assert "0+ is lane 0 and others" in page.css_first(".prov").text()
    assert table(page)[1] == ["1", "1", "2–3"]


def test_a_wide_access_says_in_how_many_phases_it_is_served() -> None:
    page = drawn("```{memory-access}\n:address: lane * 32\n:width: 16\n:memory: shared\n```\n")
    assert facts(page) == {"bank conflict": "2-way", "phases": "4, of 8 lanes", "passes": "8, at best 4"}


def test_a_timeline_is_scheduled_and_its_overlap_counted() -> None:
    page = drawn("```{timeline}\ntiles: 4\nbuffers: 2\nstages:\n  copy: 2\n  compute: 3\n```\n")
    assert facts(page)["total"] == "14 steps" and facts(page)["one after another"] == "20 steps"
    assert table(page)[2] == ["2", "5", "8"]


def test_stages_without_a_word_about_it_come_after_the_one_before() -> None:
    chain = "```{timeline}\ntiles: 3\nstages:\n  a: 1\n  b: {steps: 2, after: [a], buffers: 2}\n  c: 1\n```\n"
    said = chain.replace("c: 1", "c: {steps: 1, after: [b]}")
    free = chain.replace("c: 1", "c: {steps: 1, after: []}")
    assert table(drawn(chain)) == table(drawn(said)) != table(drawn(free))


def test_options_of_quarto_are_the_same_options() -> None:
    text = "```{memory-access}\n#| stride: 2\n#| label: fig-half\n```\n"
    assert drawn(text).css_first("#fig-half") is not None


@pytest.mark.parametrize(
    "text",
    [
        "```{layout} (32,32):(33,1)\n:banks: 4\n```\n",
        "```{memory-access}\n:stride: 32\n```\n",
        "```{timeline}\ntiles: 16\nbuffers: 3\nstages: {copy: 2, compute: 3, store: 1}\n```\n",
    ],
)
def test_a_figure_is_small(text: str) -> None:
    html = parse_document(Markdown(text, POST))[0].html
    assert len(gzip.compress(html.encode())) < 6 * 1024


def test_a_figure_that_did_not_change_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "```{layout} (4,4)\n```\n"
    first = Pieces()
    before = parse_document(Markdown(text, POST), pieces=first)[0]
    again = Pieces(first.used)
    monkeypatch.setattr("sitegen.markup.drawn.layout.grid", None)
    assert parse_document(Markdown(f"More.\n\n{text}", POST), pieces=again)[0].html.endswith(before.html)


def test_texts_without_such_figures_do_not_load_them() -> None:
    code = (
        "import sys; from sitegen.markup.parse import parse_document; from sitegen.model.site import Markdown;"
        "parse_document(Markdown('```python\\nx\\n```\\n', 'a.md')); sys.exit('sitegen.markup.drawn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
