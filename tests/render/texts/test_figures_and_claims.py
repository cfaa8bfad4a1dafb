"""Figures within sentences say where they come from, to the pointer, the keyboard, a screen reader and on paper."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.model.site import Term
from sitegen.render.inputs.evidence import Evidence
from sitegen.results.freshness import Freshness, FreshnessState

POST = "posts/sum/index.html"
BANDWIDTH = "{value}`softmax/fused@8192x8192:float32 bandwidth`"
STALE = Freshness(FreshnessState.STALE, ("fused.py changed",))
TITLE = "softmax/fused@8192x8192:float32"


def page(
    make: SimpleNamespace, text: str, *, stale: bool = False, lang: str = "", records: bool = True
) -> LexborHTMLParser:
    """Return the page of a post with this text."""
    site = make.site()
    posts = tuple(
        replace(one, lang=lang, body=replace(one.body, text=text)) if one.slug == "sum" else one for one in site.posts
    )
    known = make.records(make.record(), make.record("copy")) if records else make.records()
    evidence = Evidence(known, {(make.gpu, TITLE): STALE} if stale else {})
    pages = make.rendered(replace(site, posts=posts), evidence)
    return LexborHTMLParser(str(pages["ko/posts/sum/index.html" if lang else POST]))


def figure(html: LexborHTMLParser) -> LexborNode:
    found = html.css_first("a.figure")
    assert found is not None
    return found


def words(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text().replace("\u00a0", " ").split())


def test_a_figure_has_its_unit_and_no_more_digits_than_its_interval_supports(make: SimpleNamespace) -> None:
    text = " ".join(f"{{value}}`softmax/fused {name}`" for name in ("bandwidth", "time", "x torch", "of-ceiling"))
    shown = [words(one) for one in page(make, text).css("a.figure")]
    assert shown == ["4.07 TB/s", "132 µs", "2.12 ×", "94.6 %"]


def test_a_figure_leads_to_its_implementation_and_is_described_by_a_source(make: SimpleNamespace) -> None:
    html = page(make, f"It moves {BANDWIDTH}.")
    one = figure(html)
    assert one.attributes["href"] == "../../kernels/softmax/#fused"
    source = html.css_first(f"#{one.attributes['aria-describedby']}")
    assert "NVIDIA H200, 21 November 2026, run 2026-11-21T06:10:05Z" in words(source)
    assert "kernels/softmax/nvidia-h200.json" in words(source)
    facts = str(one.attributes["data-from"])
    assert "softmax/fused 8192x8192:float32" in facts and "95 % interval" in facts and "NVIDIA H200" in facts
    assert one.attributes["data-n"] == "1"


def test_figures_of_one_run_share_a_source_and_ids_are_unique(make: SimpleNamespace) -> None:
    html = page(make, f"{BANDWIDTH} {{value}}`softmax/naive time` {{value}}`copy/fused time` {{value}}`ceiling read`")
    assert [one.attributes["data-n"] for one in html.css("a.figure")] == ["1", "1", "2", "3"]
    ids = [node.attributes["id"] for node in html.css("[id]")]
    assert len(set(ids)) == len(ids)
    assert len(html.css(".sources li")) == 3


def test_a_stale_figure_is_marked_for_the_eye_the_ear_and_in_the_note(make: SimpleNamespace) -> None:
    one = figure(page(make, BANDWIDTH, stale=True))
    assert one.attributes["class"] == "figure stale"
    assert words(one).endswith("(stale)")
    assert "stale: fused.py changed" in str(one.attributes["data-from"])
    assert "stale" not in str(figure(page(make, BANDWIDTH)).html)


def test_a_figure_without_a_record_says_so(make: SimpleNamespace) -> None:
    html = page(make, f"It moves {BANDWIDTH}.", records=False)
    assert words(html.css_first(".figure-absent")) == "[not measured yet]"
    assert html.css_first(".sources") is None


def test_a_figure_within_a_link_is_no_link(make: SimpleNamespace) -> None:
    html = page(make, f"[It moves {BANDWIDTH}](../softmax/index.md)")
    assert html.css_first("a a") is None
    assert words(html.css_first('main a[href="../../posts/softmax/"]')) == "It moves 4.07 TB/s"


def test_a_figure_in_a_heading_stands_in_the_contents_and_not_in_the_id(make: SimpleNamespace) -> None:
    html = page(make, f"## Moving {BANDWIDTH} of {{predicted}}`softmax/fused`\n\nText.\n\n## Next\n")
    assert [words(one).removeprefix("1").strip() for one in html.css("nav.toc li")][:1] == ["Moving 4.07 TB/s of 95 %"]
    heading = html.css_first("article h2[id^=moving]")
    assert heading is not None and heading.attributes["id"] == "moving-of"


def test_a_figure_stands_in_tables_and_captions(make: SimpleNamespace) -> None:
    caption = f"```{{benchmark}} softmax\n:caption: At best {BANDWIDTH}.\n```\n"
    html = page(make, f"| a | b |\n|---|---|\n| fused | {BANDWIDTH} |\n\n{caption}")
    assert len(html.css("td a.figure")) == 1
    assert words(html.css_first("caption")).endswith("At best 4.07 TB/s.")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("softmax/fused > 1.5x torch", "2.121 × torch, 95 % interval 2.100 × to 2.142 ×, margin"),
        ("softmax/fused of-ceiling > 0.9", "94.59 %, 95 % interval 94.51 % to 94.66 %, margin"),
    ],
)
def test_the_evidence_of_a_claim_has_the_figure_with_the_digits_of_its_interval(
    make: SimpleNamespace, claim: str, evidence: str
) -> None:
    html = page(make, f"```{{claim}} {claim}\nIt is so.\n```\n")
    assert evidence in words(html.css_first(".claim .evidence li"))


def test_a_figure_speaks_the_language_of_its_text(make: SimpleNamespace) -> None:
    one = figure(page(make, BANDWIDTH, stale=True, lang="ko"))
    assert "95 % 구간" in str(one.attributes["data-from"])
    assert words(one).endswith("(낡음)")


def test_a_given_figure_names_its_source(make: SimpleNamespace) -> None:
    given = page(make, "It would take {given}`2.4 TB/s; three reads; and a write`.").css_first(".given")
    assert given is not None
    assert (words(given), given.attributes["title"]) == ("2.4 TB/s", "three reads; and a write")


@pytest.mark.parametrize(
    ("claim", "state", "said"),
    [
        ("softmax/fused >= 2x torch", "fresh", "the record supports this sentence"),
        ("softmax/fused >= 3x torch", "failed", "the record does not support this sentence"),
        ("softmax/fused >= 2x torch on all @ 8192x8192:all", "fresh", "the record supports this sentence"),
        ("softmax/fused uses HGMMA", "planned", "this sentence is not measured yet"),
    ],
)
def test_a_claim_is_its_sentence_with_a_mark_that_opens_the_evidence(
    make: SimpleNamespace, claim: str, state: str, said: str
) -> None:
    html = page(make, f"```{{claim}} {claim}\nIt is *fast*.\n```\n")
    assert words(html.css_first(".claim > p")) == "It is fast."
    mark = html.css_first(f".claim > details > summary .state.{state}")
    assert words(mark) == said
    assert words(html.css_first(".claim .evidence code")) == claim


def test_a_claim_about_a_stale_record_is_shown_as_such(make: SimpleNamespace) -> None:
    html = page(make, "```{claim} softmax/fused >= 3x torch\nIt is fast.\n```\n", stale=True)
    assert words(html.css_first(".claim summary .state.stale")) == "the record of this sentence is stale"
    assert "stale: fused.py changed" in words(html.css_first(".claim .evidence"))


def test_pages_keep_to_the_policy(make: SimpleNamespace) -> None:
    html = page(make, f"{BANDWIDTH}\n\n```{{claim}} softmax/fused fastest\nIt is fast.\n```\n")
    assert html.css("[style], [onclick], article script") == []


def test_a_definition_in_the_list_of_terms_has_its_figures(make: SimpleNamespace) -> None:
    site = make.site()
    text = replace(site.pages[0].body, text=f"A kernel at {BANDWIDTH}. More.", path="content/terms/fast.md")
    pages = make.rendered(replace(site, terms=(Term("fast", "Fast", text, site.pages[0].span),)))
    assert "A kernel at 4.07\u00a0TB/s." in str(pages["terms/index.html"])
