"""The page of an exercise, the list of exercises, and the places that lead to them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode as Node

from sitegen.diagnostics import Span
from sitegen.model.site import Ref, SeriesExercise
from sitegen.read.exercises import parse_exercise

Pages = dict[str, str]
HERE = "exercises/soft/index.html"
TEXT = """---
title: Softmax of each row
description: Make it right.
kernel: softmax
solution: fused
counted_at: {M: 64, N: 1024}
minutes: 45
needs: [Reduction]
teaches: [masks]
---
Subtract the maximum first.

## Hints

:::{dropdown} The mask
Compare with N.
:::

:::{dropdown} Large numbers
`exp(100)` overflows.
:::
"""


@pytest.fixture(scope="module")
def pages(make: SimpleNamespace) -> Pages:
    """The site with an exercise on softmax, which needs what the sum teaches, and which its series lists."""
    site = make.site()
    (series,) = site.series
    exercise, mistakes = parse_exercise(TEXT, "content/exercises/soft/index.md")
    assert not mistakes
    first, second = series.phases
    listed = SeriesExercise(Ref("soft", Span("series/gpu-systems.yaml")))
    series = replace(series, phases=(first, replace(second, exercises=(listed,))))
    posts = tuple(
        replace(post, teaches=(Ref("reduction", post.span),)) if post.slug == "sum" else post for post in site.posts
    )
    fused = site.files["kernels/softmax/fused.py"].replace("# endregion", "\n\n# endregion\n\n\ndef softmax(x): ...")
    starter = "def softmax(x, *, out=None): ...\n"
    files = {**site.files, "content/exercises/soft/starter.py": starter, "kernels/softmax/fused.py": fused}
    return make.rendered(replace(site, posts=posts, series=(series,), exercises=(exercise,), files=files))


def words(node: Node | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def test_the_page_leads_from_the_task_to_the_solution(pages: Pages) -> None:
    page = Html(pages[HERE])
    heads = [words(head) for head in page.css("main h2")]
    assert heads == ["The task", "Start", "Hints", "What is checked", "The solution"]
    assert words(page.css_first("#task ~ .prose") or page.css_first(".band .prose")) == "Subtract the maximum first."
    assert words(page.css_first("dl.facts")).startswith("you need this first Reduction : Adding many numbers")
    assert "you will practise masks" in words(page.css_first("dl.facts"))


def test_each_hint_is_folded_by_itself(pages: Pages) -> None:
    hints = Html(pages[HERE]).css(".hints > details")
    assert [words(hint.css_first("summary")) for hint in hints] == ["The mask", "Large numbers"]
    assert not any("open" in hint.attributes for hint in hints)


def test_the_starter_is_on_the_page_and_beside_it_as_a_file(pages: Pages) -> None:
    page = Html(pages[HERE])
    assert pages["exercises/soft/softmax.py"] == "def softmax(x, *, out=None): ...\n"
    assert page.css_first("a[href='softmax.py'][download]") and page.css_first("a[href='soft.zip'][download]")
    assert "def softmax" in words(page.css_first("figure.code.nums"))
    assert any("python check.py" in words(one) for one in page.css("figure.code"))


def test_the_solution_is_folded_and_its_figures_name_their_record(pages: Pages) -> None:
    spoiler = Html(pages[HERE]).css_first("details.solution")
    assert spoiler is not None and "open" not in spoiler.attributes
    assert spoiler.css_first("[data-record='softmax nvidia-h200'] table")
    assert [words(row) for row in spoiler.css("tbody th[scope=row]") if "fused" in words(row)]


def test_a_removed_mark_of_a_region_leaves_at_most_two_blank_lines(pages: Pages) -> None:
    code = Html(pages[HERE]).css_first("details.solution pre code")
    assert code is not None and "region" not in code.text()
    lines = [line.text().strip() for line in code.css(".ln")]
    at = lines.index("def softmax(x): ...")
    assert lines[at - 2 : at] == ["", ""] and lines[at - 3].startswith("tl.store")


def test_the_check_of_loads_names_its_shape_and_its_limit(pages: Pages) -> None:
    text = words(Html(pages[HERE]).css_first("main"))
    assert "it loads more than 1.5 × the bytes of the solution, or touches more than 1.5 × its sectors" in text
    assert "more than 64 × as many programs, or 1/8 as many or fewer; counted at M = 64, N = 1024" in text


def test_only_the_mark_of_progress_needs_a_script(pages: Pages) -> None:
    hidden = Html(pages[HERE]).css("main [hidden]")
    assert [node.attributes["data-progress"] for node in hidden] == ["exercise:soft"]


def test_series_post_kernel_and_concepts_lead_to_the_exercise(pages: Pages) -> None:
    series = Html(pages["series/gpu-systems/index.html"])
    line = series.css_first("#exercise-soft")
    assert line is not None and line.attributes["data-progress"] == "exercise:soft"
    assert words(line.css_first(".state")) == "45 min" and "needs Reduction" in words(line)
    assert series.css_first(".graph a[href='../../exercises/soft/']")
    for path in ("posts/sum/index.html", "kernels/softmax/index.html", "concepts/index.html"):
        link = Html(pages[path]).css_first(f"main a[href='{'../' * path.count('/')}exercises/soft/']")
        assert words(link) == "Softmax of each row", path


def test_the_list_of_exercises_is_in_the_navigation(pages: Pages) -> None:
    assert words(Html(pages["index.html"]).css_first(".masthead a[href='exercises/']")) == "Exercises"
    entry = Html(pages["exercises/index.html"]).css_first(".exercises li")
    assert words(entry.css_first("p.meta")) == "45 min kernel softmax practises masks solved"
    assert entry.css_first(".state").attributes.keys() >= {"hidden"}
