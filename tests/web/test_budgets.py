"""Limits on the gzipped weight and the requests of a page, with a table of the measured values."""

from __future__ import annotations

import gzip
import re
from statistics import median
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

KB = 1000
HTML, KERNEL_HTML, MEDIAN, CSS, JS, LARGE_JS, REQUESTS = 40 * KB, 60 * KB, 14 * KB, 10 * KB, 4 * KB, 10 * KB, 4
OWN_SHEET = 4 * KB
WITH_OWN_SHEET = (
    *("series", "own series", "kernel", "own kernel", "day", "own day", "tasks", "exercise", "exercises"),
    *("week", "month", "year", "own links", "search", "review", "own review", "all posts", "own posts"),
)
"""Pages with a style sheet of their own, and some with a script, each one more request."""


def weight(data: bytes) -> int:
    return len(gzip.compress(data))


def weigh(site: Any, path: str) -> tuple[int, int, int]:
    """Return the bytes of the page, its style sheets and its scripts, without what search loads at the first key."""
    data = (site.folder / path).read_bytes()
    page = LexborHTMLParser(data)
    inside = (site.folder / path).parent

    def all_of(selector: str, name: str) -> int:
        addresses = [
            re.sub(rf"^{re.escape(site.base)}", "", node.attributes[name] or "") for node in page.css(selector)
        ]
        folder = site.folder if path == "404.html" else inside
        return sum(weight((folder / address).read_bytes()) for address in addresses)

    return weight(data), all_of("link[rel=stylesheet]", "href"), all_of("script[src]", "src")


def test_every_kind_of_page_is_within_its_budget(
    made: Any, own: Any, looked_at: dict[str, Any], patterns: Any, say: Any, aligned: Any
) -> None:
    rows: list[list[object]] = [["page", "HTML", "CSS", "JS", "requests", "images"]]
    over = []
    for name, (site, path) in patterns.items():
        html, css, js = weigh(site, path)
        kinds = looked_at[name]["requests"]
        images = kinds.count("image")
        rows.append([name, html, css, js, len(kinds) - images, images])
        limit = LARGE_JS if name in ("search", "review", "own review") else JS
        extra = 1 if name in WITH_OWN_SHEET else 0
        most = KERNEL_HTML if name.endswith("kernel") else HTML
        light = (html <= most or name == "own posts") and css <= CSS + extra * OWN_SHEET and js <= limit
        held = light and (len(kinds) - images <= REQUESTS + 2 * extra or name == "redirect")
        over += [] if held else [name]
    posts = [
        weight((own.folder / path).read_bytes()) for path in own.pages if re.fullmatch(r"posts/[^/]+/index.html", path)
    ]
    rows.append(["limit", HTML, CSS, JS, REQUESTS, ""])
    say(["", "Gzipped bytes and requests of a page of every kind:", *aligned(rows)])
    say([f"Median of the posts of this site: {median(posts):.0f} of {MEDIAN} bytes of HTML."])
    assert over == []


@pytest.mark.parametrize("name", ["own", "docs"])
def test_every_other_page_is_within_the_limit_too(name: str, request: pytest.FixtureRequest) -> None:
    """Pages that exist to hold everything are exempt: links to them state their size."""
    site = request.getfixturevalue(name)
    pages = [path for path in site.pages if not re.match(r"kernels/[^/]+/code/|series/[^/]+/all/", path)]
    most = {path: KERNEL_HTML if re.fullmatch(r"kernels/[^/]+/index.html", path) else HTML for path in pages}
    heavy = {path: size for path in pages if (size := weigh(site, path)[0]) > most[path]}
    assert heavy == {}
