"""Properties of every page of a site."""

from __future__ import annotations

import gzip
import itertools
import os
import posixpath
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.render.shared.default_theme import default_folder

Pages = dict[str, str | bytes]


def html(pages: Pages) -> dict[str, LexborHTMLParser]:
    return {
        path: LexborHTMLParser(text) for path, text in pages.items() if path.endswith(".html") and isinstance(text, str)
    }


def target(path: str, href: str) -> tuple[str, str]:
    """Return (output path, anchor) to which a relative href on the page at `path` leads."""
    parts = urlsplit(href)
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path))) if parts.path else path
    joined = "" if joined == "." else joined
    return (posixpath.join(joined, "index.html") if parts.path.endswith("/") else joined), parts.fragment


def test_every_internal_link_leads_to_a_page_and_to_an_id_on_it(pages: Pages) -> None:
    parsed = html(pages)
    ids = {path: {node.attributes["id"] for node in page.css("[id]")} for path, page in parsed.items()}
    checked = 0
    for path, page in parsed.items():
        for node in page.css("a[href], link[rel=stylesheet], script[src], img[src]"):
            href = node.attributes.get("href") or node.attributes.get("src") or ""
            if "://" in href or (path == "404.html" and href.startswith("/")):
                continue
            found, anchor = target(path, href)
            assert found in pages or found.startswith("assets/"), f"{path}: {href}"
            assert not anchor or anchor in ids[found], f"{path}: {href}"
            checked += 1
    assert checked > 200


def test_only_404_has_absolute_paths(pages: Pages) -> None:
    for path, page in html(pages).items():
        absolute = [n.attributes["href"] for n in page.css("a") if (n.attributes["href"] or "").startswith("/")]
        assert bool(absolute) == (path == "404.html"), path
        assert all(href.startswith("/blog/") for href in absolute if href)


def test_ids_are_unique_on_a_page(pages: Pages) -> None:
    for path, page in html(pages).items():
        ids = [node.attributes["id"] for node in page.css("[id]")]
        assert len(ids) == len(set(ids)), path


def test_what_labels_something_exists(pages: Pages) -> None:
    for path, page in html(pages).items():
        ids = {node.attributes["id"] for node in page.css("[id]")}
        for node in page.css("[aria-labelledby]"):
            assert set((node.attributes["aria-labelledby"] or "").split()) <= ids, path


def test_nothing_is_inline_that_a_strict_policy_forbids(pages: Pages) -> None:
    for path, page in html(pages).items():
        assert not page.css("[style], style, [onclick], [onload]"), path
        scripts = [node for node in page.css("script") if node.attributes.get("type") != "application/ld+json"]
        assert all(node.attributes.get("src") for node in scripts), path


def test_every_page_says_what_it_is(pages: Pages) -> None:
    for path, page in html(pages).items():
        assert len(page.css("h1")) == 1, path
        assert len(page.css("head > title")) == 1, path
        assert page.css_first("meta[name=description]") is not None, path
        canonical = page.css_first("link[rel=canonical]")
        assert canonical is not None
        assert canonical.attributes["href"] == f"https://example.org/blog/{path.removesuffix('index.html')}"


def test_headings_leave_out_no_level(pages: Pages) -> None:
    for path, page in html(pages).items():
        steps = [int(node.tag[1]) for node in page.css("h1, h2, h3, h4, h5, h6")]
        assert all(after - before <= 1 for before, after in itertools.pairwise(steps)), path


def test_every_scroller_can_be_reached_and_has_a_name(pages: Pages) -> None:
    for path, page in html(pages).items():
        for node in page.css(".scroll, pre"):
            named = node.attributes.get("aria-label") or node.attributes.get("aria-labelledby")
            assert node.attributes.get("tabindex") == "0", path
            assert node.attributes.get("role") == "group", path
            assert named, path


def test_text_of_the_author_is_escaped(pages: Pages) -> None:
    assert "Warp &amp; Weft" in str(pages["index.html"])
    assert "1 &lt; 2" in str(pages["posts/softmax/index.html"])


def test_a_post_of_tomorrow_is_nowhere(pages: Pages) -> None:
    assert not [path for path, text in pages.items() if "later" in path or "Not yet" in str(text)]


def test_pages_are_small(pages: Pages) -> None:
    sizes = {path: len(gzip.compress(str(text).encode())) for path, text in pages.items() if path.endswith(".html")}
    assert max(sizes.values()) <= 40_000
    assert sizes["posts/softmax/index.html"] <= 14_000


@pytest.mark.parametrize(("name", "limit"), [("site.css", 10_000), ("site.js", 4_000), ("worklog.css", 4_000)])
def test_the_theme_is_small(name: str, limit: int) -> None:
    assert len(gzip.compress((default_folder() / "assets" / name).read_bytes())) <= limit


def test_the_font_of_formulas_is_fetched_where_one_stands(pages: Pages) -> None:
    found = {path: bool(page.css("math")) for path, page in html(pages).items()}
    assert found == {path: bool(page.css("link[as=font]")) for path, page in html(pages).items()}
    assert set(found.values()) == {True, False}
    assert (default_folder() / "assets" / "math.woff2").stat().st_size <= 40_960


def test_the_plates_of_a_post_name_their_kernel_and_their_gpu(pages: Pages) -> None:
    headings = [node.text() for node in html(pages)["posts/softmax/index.html"].css("#record ~ h3")]
    assert headings and set(headings) == {"softmax, NVIDIA H200"}


def test_the_sitemap_is_xml_with_absolute_links(pages: Pages) -> None:
    sitemap = ElementTree.fromstring(str(pages["sitemap.xml"]))
    urls = [node.text for node in sitemap.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert "https://example.org/blog/kernels/softmax/" in urls
    assert len(urls) == len(set(urls)) == sum(path.endswith("index.html") for path in pages)
    assert "Sitemap: https://example.org/blog/sitemap.xml" in str(pages["robots.txt"])


_HASH = """
import hashlib, importlib.util, sys
spec = importlib.util.spec_from_file_location("samples", sys.argv[1])
samples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(samples)
print(hashlib.sha256(repr(samples.rendered()).encode()).hexdigest())
"""


def test_hash_seed_and_time_zone_change_no_byte() -> None:
    samples = str(Path(__file__).parents[1] / "conftest.py")
    made = set()
    for seed, zone in (("1", "UTC"), ("2", "Pacific/Kiritimati")):
        env = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone}
        run = subprocess.run(
            [sys.executable, "-c", _HASH, samples], env=env, capture_output=True, text=True, check=True
        )
        made.add(run.stdout)
    assert len(made) == 1
