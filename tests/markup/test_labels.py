"""Numbers of things with captions, and references to them by label."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document
from sitegen.model.document import BenchmarkSlot, CellSlot, Document, RooflineSlot
from sitegen.model.site import Markdown

POST = "content/posts/times/index.md"
FIGURE = "```{figure} plot.png\n:alt: a plot\n:label: fig-plot\nIt *grows*.\n```\n"
TABLE = "| kernel | ms |\n|---|---|\n| a | 1.5 |\n\n: Times of `a` {#tbl-times}\n"


def parsed(text: str, **options: bool | str) -> Document:
    document, diagnostics = parse_document(Markdown(text, POST), numbered=True, **options)  # type: ignore[arg-type]
    assert diagnostics == ()
    return document


def mistakes(text: str) -> list[Diagnostic]:
    return list(parse_document(Markdown(text, POST), numbered=True)[1])


def tree(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(parsed(text).html.replace("\0", "%"))


def links(text: str) -> list[tuple[str, str]]:
    found = tree(text).css("p > a")
    return [(str(a.attributes["href"]), a.text().replace("\u00a0", " ")) for a in found]


def test_reference_may_stand_before_what_it_names() -> None:
    assert links(f"As @fig-plot shows.\n\n{FIGURE}") == [("#fig-plot", "Figure 1")]


@pytest.mark.parametrize("particle", ["에서", "は", "では"])
def test_particle_behind_a_label_is_no_part_of_it(particle: str) -> None:
    assert links(f"@fig-plot{particle}.\n\n{FIGURE}") == [("#fig-plot", "Figure 1")]
    assert f"</a>{particle}." in parsed(f"@fig-plot{particle}.\n\n{FIGURE}").html.replace("\0", "</a>")


def test_label_may_be_of_such_words_itself() -> None:
    assert links(f"@fig-그림.\n\n{FIGURE.replace('fig-plot', 'fig-그림')}") == [(f"#{quote('fig-그림')}", "Figure 1")]


def test_figure_without_caption_and_label_has_no_number() -> None:
    bare = "```{figure} other.png\n:alt: another\n```\n"
    page = tree(f"{bare}\n{FIGURE}\n@fig-plot\n")
    assert [caption.text().strip() for caption in page.css("figcaption")] == ["Figure 1. It grows."]


def test_image_alone_in_its_paragraph_is_a_figure_when_it_has_a_label_for_one() -> None:
    page = tree("![It *grows*](plot.png){#fig-plot}\n\n![No](a.png){#plot}\n")
    assert [figure.attributes["id"] for figure in page.css("figure")] == ["fig-plot"]
    assert page.css_first("figcaption").html == "<figcaption>\n<p><b>Figure 1.</b> It <em>grows</em></p>\n</figcaption>"


def test_caption_of_a_table_stands_in_it() -> None:
    page = tree(f"{TABLE}\nSee @tbl-times.\n")
    assert page.css_first("#tbl-times caption").text() == "Table 1. Times of a"
    assert page.css_first("#tbl-times .scroll").attributes["aria-label"] == "Table 1"


def test_definition_behind_a_table_is_still_a_definition() -> None:
    page = tree("| a |\n|---|\n| 1 |\n\nTerm\n: Its meaning\n")
    assert page.css_first("caption") is None
    assert page.css_first("dd").text().strip() == "Its meaning"


def test_formula_with_a_label_shows_its_number() -> None:
    page = tree("$$\na\n$$\n\n$$\nb\n$$ (eq-b)\n\n@eq-b\n")
    assert [node.text() for node in page.css(".eq .no")] == ["(1)"]
    assert page.css_first("p > a").text() == "Equation\u00a01"


def test_formula_may_have_its_label_in_braces() -> None:
    assert tree("$$\nb\n$$ {#eq-b}\n\n@eq-b\n").css_first("#eq-b .no").text() == "(1)"
    assert tree("$$ b $$ {#eq-b}\n\n@eq-b\n").css_first("#eq-b .no").text() == "(1)"


def test_listing_with_a_label_or_a_caption_is_numbered() -> None:
    page = tree('```python\n1\n```\n\n```python label="lst-x" lst-cap="A loop"\n2\n```\n\n@lst-x\n')
    assert [node.text() for node in page.css("figcaption p")] == ["Listing 1. A loop"]
    assert page.css_first("p > a").attributes["href"] == "#lst-x"


def test_section_is_called_by_its_number_or_by_its_title() -> None:
    text = "## Warps {#sec-warps}\n\n### Lanes {#sec-lanes}\n\n@sec-warps, @sec-lanes\n"
    assert links(text) == [("#sec-warps", "Section 1"), ("#sec-lanes", "“Lanes”")]


def test_benchmarks_rooflines_and_cells_are_counted_with_the_others() -> None:
    cell = "```{code-cell} python\n#| label: fig-drawn\n#| fig-cap: Drawn\n1\n```\n"
    document = parsed(
        f"{TABLE}\n```{{benchmark}} sum\n```\n\n{FIGURE}\n```{{roofline}} sum\n```\n\n{cell}\n@fig-drawn\n"
    )
    slots = [slot for slot in document.slots if isinstance(slot, BenchmarkSlot | RooflineSlot | CellSlot)]
    assert [slot.number for slot in slots] == ["Table 2", "Figure 2", "Figure 3"]


def test_words_in_a_bracket_stand_for_the_kind() -> None:
    text = f"[Fig. @fig-plot], [-@fig-plot], [@fig-plot; @tbl-times], [@fig-plot a]\n\n{FIGURE}\n{TABLE}"
    words = ["Fig. 1", "1", "Figure 1", "Table 1", "Figure 1"]
    assert [shown for _, shown in links(text)] == words


def test_labels_of_texts_on_one_page_are_kept_apart() -> None:
    document = parsed(f"@fig-plot\n\n{FIGURE}", id_prefix="2026-11-20-")
    assert 'href="#2026-11-20-fig-plot"' in document.html
    assert 'id="2026-11-20-fig-plot"' in document.html


def test_unknown_label_says_where_and_what_may_be_meant() -> None:
    (found,) = mistakes(f"Text with @fig-plto.\n\n{FIGURE}")
    assert (found.code, found.span.line, found.span.col, found.span.length) == ("SG120", 1, 11, 9)
    assert found.hint == "did you mean `fig-plot`?"


def test_label_twice_is_a_mistake() -> None:
    assert [d.code for d in mistakes(f"{FIGURE}\n{FIGURE}")] == ["SG108"]


def test_label_for_another_kind_of_thing() -> None:
    (found,) = mistakes(FIGURE.replace("fig-plot", "tbl-plot"))
    assert (found.code, found.hint) == ("SG121", "call it `fig-plot`")


@pytest.mark.parametrize("text", ["me@fig-x.org", r"\@fig-x", "`@fig-x`"])
def test_sign_that_refers_to_nothing(text: str) -> None:
    assert "@fig-x" in parsed(f"{text}\n").html
