"""Mermaid diagrams get the classes of the theme, and a mistake in one is reported at its line."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document
from sitegen.markup.pieces import Pieces
from sitegen.model.site import Markdown
from sitegen.read.distribution import install_command

FLOW = (
    "flowchart LR\n  A[Global memory] -->|cp.async| B[Shared memory]\n  subgraph SM\n    B -.-> C((Registers))\n  end\n"
)
SEQUENCE = (
    "sequenceDiagram\n  autonumber\n  actor P as Producer\n  P->>+C: full\n  C--x-P: empty\n  Note over P,C: 한국어\n"
)
STATE = "stateDiagram-v2\n  [*] --> Empty\n  Empty --> Full: TMA arrives\n  Full --> [*]\n"
CLASSES = {"chart", "diagram", "level", "roof", "dash", "drop", "tip", "area", "back", "box", "mid", "b"}


def html(source: str) -> str:
    document, mistakes = parse_document(Markdown(f"```mermaid\n{source}```\n", "content/posts/a.md"))
    assert mistakes == ()
    return document.html


def mistakes(source: str) -> list[Diagnostic]:
    return list(parse_document(Markdown(f"Text.\n\n```mermaid\n{source}```\n", "content/posts/a.md"))[1])


@pytest.mark.parametrize("source", [FLOW, SEQUENCE, STATE], ids=["flow", "sequence", "state"])
def test_nothing_but_shapes_words_and_classes_of_the_theme_is_left(source: str) -> None:
    page = LexborHTMLParser(html(source))
    svg = page.css_first("svg")
    assert {node.tag for node in svg.css("*")} <= {
        "svg",
        "g",
        "path",
        "rect",
        "circle",
        "line",
        "polygon",
        "text",
        "tspan",
    }
    assert {name for node in svg.css("[class]") for name in (node.attributes["class"] or "").split()} <= CLASSES
    names = {name for node in svg.css("*") for name in node.attributes}
    assert not names & {"id", "style", "fill", "stroke", "filter", "marker-end", "marker-start"}
    assert svg.attributes["role"] == "img"


def test_two_diagrams_of_a_page_share_no_id() -> None:
    document = parse_document(Markdown(f"```mermaid\n{FLOW}```\n\n" * 2, "a.md"))[0]
    assert " id=" not in document.html and "url(#" not in document.html


def test_every_line_ends_in_its_head() -> None:
    page = LexborHTMLParser(html(FLOW))
    assert len(page.css("path.tip")) == 2 and len(page.css("path.dash")) == 1
    tip = page.css("path.tip")[0].attributes["d"] or ""
    assert re.fullmatch(r"M[\d.]+ [\d.]+L[\d.]+ [\d.]+L[\d.]+ [\d.]+z", tip)


def test_the_words_of_a_diagram_are_said_to_those_who_do_not_see_it() -> None:
    page = LexborHTMLParser(html(FLOW))
    assert (page.css_first("svg").attributes["aria-label"] or "").startswith("Flowchart with SM, cp.async")
    assert page.css_first("details pre code").text() == FLOW.strip()


def test_options_stand_in_comments_as_in_quarto() -> None:
    page = LexborHTMLParser(html(f"%%| label: fig-flow\n%%| fig-cap: Where a tile goes\n%% a comment\n{FLOW}"))
    assert page.css_first("#fig-flow figcaption").text().endswith("Where a tile goes")


def test_words_of_the_author_stay_words() -> None:
    assert "<script>" not in html('flowchart LR\n  A["&lt;script&gt;x&lt;/script&gt;"] --> B\n')


@pytest.mark.parametrize(
    ("source", "line", "col", "message"),
    [
        ("flowchart LR\n  A --> B\n  B --> [\n", 6, 3, "this diagram cannot be drawn: Unterminated node label"),
        ("sequenceDiagram\n  P->>C: x\n  P->>\n", 6, 3, "this diagram cannot be drawn: unexpected"),
        ("stateDiagram-v2\n  [*] -- Empty\n", 5, 3, "this diagram cannot be drawn: Unexpected character"),
        ("flowchrt LR\n  A --> B\n", 4, 1, "no diagram of the kind `flowchrt` is drawn"),
        ("%% why\npie\n  a: 1\n", 5, 1, "no diagram of the kind `pie` is drawn"),
    ],
)
def test_a_mistake_is_found_in_its_line(source: str, line: int, col: int, message: str) -> None:
    (found,) = mistakes(source)
    assert (found.code, found.span.line, found.span.col) == ("SG133", line, col)
    assert found.message.startswith(message)


def test_an_empty_diagram_is_none() -> None:
    assert [(d.code, d.span.line) for d in mistakes("")] == [("SG111", 3)]


def test_a_diagram_that_did_not_change_is_not_laid_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text, before = Markdown(f"```mermaid\n{FLOW}```\n", "a.md"), Pieces()
    html = parse_document(text, pieces=before)[0].html
    monkeypatch.setitem(sys.modules, "mmdr", None)
    document, found = parse_document(text, pieces=Pieces(before.used))
    assert (document.html, found) == (html, ())


def test_without_the_library_the_author_hears_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mmdr", None)
    (found,) = mistakes(FLOW)
    assert (found.code, found.span.line) == ("SG134", 3)
    assert found.hint == install_command("diagrams")


def test_a_process_that_ends_without_a_last_garbage_collection_prints_no_leaks() -> None:
    program = (
        "import atexit, gc\n"
        "from sitegen.markup.parse import parse_document\n"
        "from sitegen.model.site import Markdown\n"
        "atexit.register(gc.freeze)  # as `build` does\n"
        f"assert '<svg' in parse_document(Markdown('```mermaid\\n' + {FLOW!r} + '```\\n', 'a.md'))[0].html\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
