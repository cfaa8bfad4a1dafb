"""The Markdown version of each page."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

Pages = dict[str, str | bytes]
BASE = "https://example.org/blog/"


@pytest.fixture(scope="module")
def twins(make: SimpleNamespace) -> Pages:
    site = make.site()
    return make.rendered(replace(site, config=replace(site.config, twins=True)))


def test_every_page_that_readers_are_led_to_has_a_twin_and_leads_to_it(twins: Pages) -> None:
    pages = [path for path in twins if path.endswith(".html") and path != "404.html"]
    assert len(pages) > 15
    for path in pages:
        link = LexborHTMLParser(str(twins[path])).css_first('link[type="text/markdown"]')
        assert link is not None, path
        found = posixpath.normpath(posixpath.join(posixpath.dirname(path), str(link.attributes["href"])))
        assert found == path.replace(".html", ".md")
        assert str(twins[found]).strip()


def test_without_the_option_nothing_is_written(pages: Pages) -> None:
    assert not [path for path in pages if path.endswith(".md") or path == "llms.txt"]
    assert "text/markdown" not in str(pages["index.html"])


def test_a_post_is_what_its_author_wrote_with_its_slots_resolved(twins: Pages) -> None:
    text = str(twins["posts/softmax/index.md"])
    assert text.startswith(
        "# A softmax that reads memory once\n\n> A softmax that reads memory once, in one sentence.\n\n"
        f"2026-11-21 · triton · {BASE}posts/softmax/\n\nA softmax does five operations"
    )
    assert f"See [the sum]({BASE}posts/sum/) and [Triton](https://triton-lang.org/)." in text
    assert "a quotient.[^floor]" in text
    assert "[^floor]: The least traffic is one read and one write." in text
    assert "def _softmax(y_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):" in text
    assert "print(1)" in text
    assert "1 < 2" in text
    assert "| naive | 4 |" in text
    assert "> A row of −∞ gives NaN." in text
    assert "{kernel}" not in text
    assert "code-cell" not in text
    assert "{benchmark}" not in text
    assert "{roofline}" not in text


def test_a_table_of_measurements_is_a_table(twins: Pages) -> None:
    rows = [line for line in str(twins["posts/softmax/index.md"]).splitlines() if line.startswith("| fused")]
    assert any("132.0\u00a0µs" in row or "132.0" in row for row in rows), rows


@pytest.mark.parametrize(
    ("path", "languages"),
    [
        ("posts/softmax/index.md", {"triton", "python", "text"}),
        ("kernels/softmax/index.md", {"cuda", "triton", "sh"}),
    ],
)
def test_a_fence_says_in_what_language_its_code_is(twins: Pages, path: str, languages: set[str]) -> None:
    fences = re.findall(r"^```(\w*)$", str(twins[path]), re.MULTILINE)
    assert languages == set(fences[::2])
    assert not any(fences[1::2])


def test_nothing_of_html_is_left_in_pages_that_are_read_back(twins: Pages) -> None:
    for path in ("index.md", "kernels/softmax/index.md", "series/gpu-systems/index.md", "posts/index.md"):
        text = str(twins[path])
        assert text.startswith("# ") or "\n# " in text, path
        assert "<" not in text.replace("<=", "").replace("< ", ""), path
        assert "](../" not in text, path


def test_what_looks_like_a_directive_in_code_stays(make: SimpleNamespace) -> None:
    site = make.site()
    code = "````markdown\n```{kernel} softmax/fused\n```\n[a](../sum/index.md) {spec}`1`\n````\n\n"
    text = code + "{spec}`4.8 TB/s` of {kernel}`softmax`, {term}`warps <warp>`"
    post = replace(site.posts[0], body=replace(site.posts[0].body, text=text))
    plain = replace(site, posts=(post, *site.posts[1:]), config=replace(site.config, twins=True))
    twin = str(make.rendered(plain)["posts/softmax/index.md"])
    assert "```{kernel} softmax/fused\n```\n[a](../sum/index.md) {spec}`1`\n" in twin
    assert f"4.8 TB/s of [`softmax`]({BASE}kernels/softmax/), [warps]({BASE}terms/warp/)" in twin


def test_llms_txt_lists_twins_that_are_there(twins: Pages) -> None:
    text = str(twins["llms.txt"])
    assert text.startswith(
        "# Warp & Weft\n\n> Kernels explained. Every figure was measured.\n\n## Posts\n\n- [A softmax"
    )
    urls = [line.partition("](")[2].partition(")")[0] for line in text.splitlines() if line.startswith("- ")]
    assert len(urls) >= 7
    assert all(url.removeprefix(BASE) in twins for url in urls)
    assert "Not yet" not in text
