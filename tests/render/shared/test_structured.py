"""The structured data of a page agrees with what the page shows."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from selectolax.lexbor import LexborHTMLParser

Pages = dict[str, str | bytes]
BASE = "https://example.org/blog/"


def head(pages: Pages, path: str) -> tuple[LexborHTMLParser, list[dict[str, Any]]]:
    page = LexborHTMLParser(str(pages[path]))
    block = page.css_first('script[type="application/ld+json"]')
    assert block is not None, path
    told = json.loads(block.text())
    assert told["@context"] == "https://schema.org"
    return page, told["@graph"]


def meta(page: LexborHTMLParser, name: str) -> list[str]:
    return [node.attributes["content"] or "" for node in page.css(f'meta[property="{name}"], meta[name="{name}"]')]


def test_every_page_says_the_same_to_machines_as_to_readers(pages: Pages) -> None:
    paths = [path for path in pages if path.endswith("index.html")]
    assert len(paths) > 15
    for path in paths:
        page, (thing, *_) = head(pages, path)
        canonical = page.css_first("link[rel=canonical]")
        assert canonical is not None
        url = canonical.attributes["href"]
        assert thing["url"] == url, path
        assert meta(page, "og:url") == [url], path
        assert [thing.get("headline", thing.get("name"))] == meta(page, "og:title"), path
        assert [thing["description"]] == meta(page, "og:description") == meta(page, "description"), path


def test_a_post_is_an_article_of_its_site_and_its_series(pages: Pages) -> None:
    page, (thing, trail) = head(pages, "posts/softmax/index.html")
    assert thing["@type"] == ["TechArticle", "BlogPosting"]
    assert thing["headline"] == page.css_first("h1").text()  # type: ignore[union-attr]
    assert thing["datePublished"] == page.css_first("time").attributes["datetime"]  # type: ignore[union-attr]
    assert thing["keywords"] == meta(page, "article:tag") == ["triton"]
    assert [part["name"] for part in thing["isPartOf"]] == ["Warp & Weft", "GPU Systems"]
    assert meta(page, "og:type") == ["article"]
    items = trail["itemListElement"]
    assert [item["position"] for item in items] == [1, 2, 3]
    assert [item["item"] for item in items] == [BASE, f"{BASE}posts/", f"{BASE}posts/softmax/"]


def test_the_kinds_of_pages(pages: Pages) -> None:
    kinds = {path: head(pages, path)[1][0]["@type"] for path in pages if path.endswith("index.html")}
    assert kinds["index.html"] == "WebSite"
    assert (
        kinds["posts/index.html"] == kinds["tags/triton/index.html"] == kinds["series/index.html"] == "CollectionPage"
    )
    assert kinds["series/gpu-systems/index.html"] == kinds["worklog/index.html"] == "CollectionPage"
    assert kinds["worklog/2026-11-20/index.html"] == "BlogPosting"
    assert kinds["terms/index.html"] == "DefinedTermSet"
    assert kinds["about/index.html"] == kinds["kernels/softmax/index.html"] == "WebPage"


def test_a_page_served_in_place_of_others_tells_machines_nothing(pages: Pages) -> None:
    assert "ld+json" not in str(pages["404.html"])
    assert "og:" not in str(pages["404.html"])


def test_no_title_ends_the_block_that_it_stands_in(make: SimpleNamespace) -> None:
    site = make.site()
    odd = replace(site.posts[0], title="</script><script>alert(1)</script> & <!-- x")
    pages = make.rendered(replace(site, posts=(odd, *site.posts[1:])))
    page, (thing, _) = head(pages, "posts/softmax/index.html")
    assert thing["headline"] == odd.title
    assert len(page.css("script")) == 2
