"""The questions of a series on one page and as CSV, and all its posts on one page and as Markdown."""

from __future__ import annotations

import csv
import datetime as dt
import io
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.model.site import Ref, Site
from sitegen.read.privacy import Privacy
from sitegen.read.worklog import parse_worklog

REVIEW, ALL = "series/gpu-systems/review/", "series/gpu-systems/all/"
QUESTIONS = """See [why](#sec-why), [softmax](../softmax/index.md#sec-two) and [about](/about/).

## Why {#sec-why}

::::{quiz} How many *sectors*?
:choices: [4, "8 of them"]
:answer: 8 of them

The stride is two, as [the picture](#sec-why) says.

:::{note}
A warp has 32 lanes.
:::
::::

:::{quiz} What bounds `sum`?
:answer: Memory.
:::
"""
PATH = "content/worklog/diary.md"
DIARY = """# Worklog

2026-11-20

I measured [Adding many numbers](/posts/sum/).

- **Q: Why *two* launches?**
- A: Because `sum` has no order.
- Q: Never answered?
- private: the offer
  Q: How much do they pay?
  A: A lot.
"""


@pytest.fixture(scope="module")
def site(make: SimpleNamespace) -> Site:
    whole = make.site()
    posts = tuple(
        replace(post, body=replace(post.body, text=QUESTIONS))
        if post.slug == "sum"
        else replace(post, body=replace(post.body, text="## Two {#sec-two}\n\nText.\n"))
        if post.slug == "softmax"
        else post
        for post in whole.posts
    )
    return replace(whole, posts=posts, config=replace(whole.config, whole_series=True))


@pytest.fixture(scope="module")
def pages(make: SimpleNamespace, site: Site) -> dict[str, str | bytes]:
    return make.rendered(site)  # type: ignore[no-any-return]


def page(pages: dict[str, str | bytes], path: str) -> LexborHTMLParser:
    return LexborHTMLParser(str(pages[f"{path}index.html"]))


def rows(pages: dict[str, str | bytes]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(str(pages[f"{REVIEW}gpu-systems.csv"]))))


def test_every_question_has_its_answer_folded_and_a_link_to_its_post(pages: dict[str, str | bytes]) -> None:
    first, second = page(pages, REVIEW).css(".card")
    assert first.css_first(".ask").text().split() == ["How", "many", "sectors?", "4", "8", "of", "them"]
    answer = first.css_first("details")
    assert "open" not in answer.attributes
    assert "B. 8 of them" in answer.text() and "A warp has 32 lanes." in answer.text()
    assert answer.css(".meta a")[-1].attributes["href"] == "../../../posts/sum/#quiz-1"
    assert answer.css_first("p > a").attributes["href"] == "../../../posts/sum/#sec-why"
    assert "Memory." in second.css_first("details").text()


def test_ids_are_those_of_words_and_not_of_places(make: SimpleNamespace, site: Site) -> None:
    def ids(text: str) -> list[str | None]:
        posts = tuple(replace(p, body=replace(p.body, text=text)) if p.slug == "sum" else p for p in site.posts)
        found = page(make.rendered(replace(site, posts=posts)), REVIEW).css(".card")
        return [card.attributes["data-card"] for card in found]

    one, two = "```{quiz} One?\n:answer: 1\n```\n", "```{quiz} Two?\n:answer: 2\n```\n"
    assert ids(one + "\n" + two) == ids(two + "\n" + one)[::-1]


def test_a_card_of_the_csv_has_question_answer_and_address(pages: dict[str, str | bytes]) -> None:
    first, second = rows(pages)
    assert first[0].split("\n\n") == ["How many *sectors*?", "A. 4", "B. 8 of them"]
    assert "as the picture says" in first[1], "flash-card programs do not show links of Markdown"
    assert first[2] == "https://example.org/blog/posts/sum/#quiz-1"
    assert second == ["What bounds `sum`?", "Memory.", "https://example.org/blog/posts/sum/#quiz-2"]


def test_answered_questions_of_the_worklog_are_asked_and_private_ones_are_not(
    make: SimpleNamespace, site: Site
) -> None:
    days, _, mistakes = parse_worklog({PATH: Privacy({"order": "sequence"}).published(DIARY, PATH)})
    assert not mistakes
    whole = make.rendered(replace(site, worklog=days))
    found = page(whole, REVIEW)
    assert [card.css_first(".ask").text(strip=True) for card in found.css(".card")][2:] == ["Why two launches?"]
    assert rows(whole)[2] == [
        "Why two launches?",
        "Because sum has no sequence.",
        "https://example.org/blog/worklog/2026-11-20/",
    ]
    assert not any("they pay" in str(text) for text in whole.values())


@pytest.mark.parametrize(
    ("worked_on", "days", "asked_by"),
    [
        ("softmax", (14, 20), ["first"]),
        ("softmax", (20, 14), ["second"]),
        ("softmax", (14, 14), ["first", "second"]),
        ("softmax for Adding many numbers", (20, 14), ["first", "second"]),
        ("the figures of Adding many numbers", (20, 14), ["first"]),
        ("nothing that has a page", (14, 20), []),
    ],
)
def test_a_question_of_the_worklog_is_asked_by_the_series_that_shows_the_kernel_of_its_day_first(
    make: SimpleNamespace, site: Site, worked_on: str, days: tuple[int, int], asked_by: list[str]
) -> None:
    (series,) = site.series
    dates = {"sum": dt.date(2026, 11, days[0]), "softmax": dt.date(2026, 11, days[1])}
    posts = tuple(
        replace(post, date=dates[post.slug], kernels=(Ref("softmax", series.span),), body=replace(post.body, text="T."))
        for post in site.posts
        if post.slug in dates
    )
    both = tuple(
        replace(series, id=id, phases=(replace(phase, topics=()),))
        for id, phase in zip(("first", "second"), series.phases, strict=True)
    )
    entries, _, _ = parse_worklog({PATH: f"2026-11-20\n\nI measured {worked_on}.\n\n- Q: Why?\n- A: So.\n"})
    whole = make.rendered(replace(site, posts=posts, series=both, worklog=entries))
    assert [one.id for one in both if f"series/{one.id}/review/index.html" in whole] == asked_by


def test_a_series_without_questions_has_no_review_page(make: SimpleNamespace) -> None:
    plain = make.site()
    whole = make.rendered(replace(plain, config=replace(plain.config, whole_series=True)))
    assert f"{ALL}index.html" in whole
    assert f"{REVIEW}index.html" not in whole
    assert "review" not in LexborHTMLParser(str(whole["series/gpu-systems/index.html"])).css_first(".plate").text()


def test_both_pages_exist_only_if_the_site_asks_for_them(make: SimpleNamespace, site: Site) -> None:
    whole = make.rendered(replace(site, config=replace(site.config, whole_series=False)))
    assert [path for path in whole if path.startswith("series/")] == [
        "series/gpu-systems/index.html",
        "series/index.html",
    ]


def test_all_posts_stand_on_one_page_in_the_order_of_the_series(pages: dict[str, str | bytes]) -> None:
    found = page(pages, ALL)
    assert [h.text() for h in found.css("h2[id]")][1:] == ["Adding many numbers", "A softmax that reads memory once"]
    assert [phase.text() for phase in found.css("section .eyebrow")] == ["Phase 1, Memory", "Phase 2, Triton kernels"]
    assert [h.attributes["id"] for h in found.css("h3[id]")] == ["sum.sec-why", "softmax.sec-two"]
    assert [h.text() for h in found.css("h4")] == ["Question 1", "Note", "Question 2"]
    ids = [node.attributes["id"] for node in found.css("[id]")]
    assert len(ids) == len(set(ids))


def test_links_between_the_posts_stay_on_the_page(pages: dict[str, str | bytes]) -> None:
    first = page(pages, ALL).css_first("section.prose > p")
    assert [link.attributes["href"] for link in first.css("a")] == [
        "#sum.sec-why",
        "#softmax.sec-two",
        "../../../about/",
    ]


def test_all_posts_are_one_markdown_file(pages: dict[str, str | bytes]) -> None:
    text = str(pages[f"{ALL}index.md"])
    lines = [line for line in text.splitlines() if line.startswith("# ")]
    assert lines == [
        "# GPU Systems",
        "# Phase 1, Memory",
        "# Adding many numbers",
        "# Phase 2, Triton kernels",
        "# A softmax that reads memory once",
    ]
    assert "[about](https://example.org/blog/about/)" in text


def test_the_short_form_of_a_series_has_no_phase_in_its_markdown_file(make: SimpleNamespace, site: Site) -> None:
    (series,) = site.series
    one = replace(series.phases[0], title="", posts=tuple(ref for phase in series.phases for ref in phase.posts))
    text = str(make.rendered(replace(site, series=(replace(series, phases=(one,)),)))[f"{ALL}index.md"])
    lines = [line for line in text.splitlines() if line.startswith("# ")]
    assert lines == ["# GPU Systems", "# Adding many numbers", "# A softmax that reads memory once"]


def test_the_page_of_the_series_links_to_both_with_their_sizes(pages: dict[str, str | bytes]) -> None:
    plate = page(pages, "series/gpu-systems/").css_first(".plate")
    links = {link.attributes["href"]: link.text() for link in plate.css("a")}
    assert links["../../series/gpu-systems/review/"] == "2\u00a0questions"
    assert links["../../series/gpu-systems/all/"].endswith("words")
