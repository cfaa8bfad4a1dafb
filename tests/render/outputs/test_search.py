"""The search page leads to all lists without its script, and every page leads to it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser


@pytest.fixture(scope="module")
def searched(make: SimpleNamespace) -> dict[str, LexborHTMLParser]:
    """The pages of a site with search."""
    site = make.site()
    pages = make.rendered(replace(site, config=replace(site.config, search=True)))
    return {path: LexborHTMLParser(text) for path, text in pages.items() if path.endswith(".html")}


def test_a_site_has_no_search_unless_it_asks_for_it(pages: dict[str, str]) -> None:
    assert "search/index.html" not in pages
    assert not [path for path, text in pages.items() if path.endswith(".html") and "aria-keyshortcuts" in text]


def test_every_page_leads_to_it(searched: dict[str, LexborHTMLParser]) -> None:
    hrefs = {path: [node.attributes["href"] for node in page.css(".masthead a")] for path, page in searched.items()}
    assert "../../search/" in hrefs["posts/softmax/index.html"]
    assert "/blog/search/" in hrefs["404.html"]
    assert all(any(href and href.endswith("search/") for href in found) for found in hrefs.values())


def test_without_the_script_it_leads_to_all_lists(searched: dict[str, LexborHTMLParser]) -> None:
    page = searched["search/index.html"]
    assert page.css_first("section.search[hidden]") is not None
    assert page.css_first("noscript") is not None
    found = {node.attributes["href"] for node in page.css("main a")}
    assert {"../posts/", "../tags/", "../series/", "../kernels/", "../worklog/", "../terms/"} <= found


def test_only_kinds_that_the_site_has_can_be_asked_for(make: SimpleNamespace) -> None:
    site = make.site()
    bare = replace(site, config=replace(site.config, search=True), terms=())
    page = LexborHTMLParser(make.rendered(bare)["search/index.html"])
    kinds = [node.attributes["value"] for node in page.css("[name=kind]")]
    assert kinds == ["", "posts", "worklog", "kernels", "pages"]
