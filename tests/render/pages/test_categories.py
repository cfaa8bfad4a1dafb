"""Categories: their cards, pages and links; a site without categories has none of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.model.site import Post, Site

Pages = dict[str, str | bytes]
BASE = "https://example.org/blog/"


def page(pages: Mapping[str, str | bytes], path: str) -> LexborHTMLParser:
    return LexborHTMLParser(str(pages[path]))


def words(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def hrefs(pages: Pages, path: str, selector: str) -> list[str | None]:
    return [node.attributes["href"] for node in page(pages, path).css(selector)]


def copies(post: Post, count: int, category: str) -> list[Post]:
    bodies = [replace(post.body, path=f"content/posts/{category}-{n}.md") for n in range(count)]
    return [replace(post, slug=f"{category}-{n}".lower(), body=b, category=category) for n, b in enumerate(bodies)]


def filed(site: Site, *others: Post) -> Site:
    """Return a site with softmax in Kernels and the sum in Parallel sums, a category of its own."""
    softmax, total, _ = site.posts
    own = replace(softmax, category="Kernels"), replace(total, category="Parallel sums")
    return replace(site, posts=(*own, *others))


@pytest.fixture(scope="module")
def pages(make: SimpleNamespace) -> Pages:
    site = filed(make.site(), *copies(make.site().posts[1], 53, "kernels"))
    return make.rendered(replace(site, config=replace(site.config, twins=True, search=True)))


def test_a_site_without_categories_has_no_page_and_no_word_of_them(make: SimpleNamespace) -> None:
    site = make.site()
    plain = make.rendered(replace(site, config=replace(site.config, search=True)))
    assert not [path for path in plain if "categor" in path]
    assert not [path for path, text in plain.items() if path.endswith(".html") and "ategor" in str(text)]


def test_a_card_has_the_name_the_number_of_posts_and_the_newest_three(pages: Pages) -> None:
    kernels, sums = page(pages, "categories/index.html").css("ul.cards > li")
    assert words(sums) == "Parallel sums 1 post 2026-11-14 Adding many numbers"
    assert words(kernels.css_first("h2")) == "Kernels"
    assert words(kernels.css_first(".fig")) == "54 posts"
    assert [words(line) for line in kernels.css("ol li")] == [
        "2026-11-21 A softmax that reads memory once",
        *["2026-11-14 Adding many numbers"] * 2,
    ]


def test_two_spellings_of_one_address_are_one_category_in_pages_of_fifty(pages: Pages) -> None:
    assert len(page(pages, "categories/kernels/index.html").css("li.post")) == 50
    assert len(page(pages, "categories/kernels/page/2/index.html").css("li.post")) == 4
    assert hrefs(pages, "categories/kernels/page/2/index.html", "p.eyebrow a") == ["../../../../categories/"]


def test_posts_and_the_archive_and_the_search_page_lead_to_categories(pages: Pages) -> None:
    assert hrefs(pages, "posts/softmax/index.html", "p.meta a[href*=categories]") == ["../../categories/kernels/"]
    found = hrefs(pages, "posts/index.html", "section header a[href*=categories]")
    assert found == ["../categories/", "../categories/kernels/", "../categories/parallel-sums/"]
    assert hrefs(pages, "search/index.html", "ul.tags a[href*=categories]") == ["../categories/"]


def test_machines_find_categories_in_the_sitemap_and_as_markdown(pages: Pages) -> None:
    for url, day in (("categories/", "2026-11-21"), ("categories/parallel-sums/", "2026-11-14")):
        assert f"<loc>{BASE}{url}</loc><lastmod>{day}</lastmod>" in str(pages["sitemap.xml"])
    assert "## [Parallel sums](https://example.org/blog/categories/parallel-sums/)" in str(pages["categories/index.md"])


def test_each_language_has_its_own_and_offers_only_languages_that_have_some(make: SimpleNamespace) -> None:
    site = make.site()
    body = replace(site.posts[0].body, path="content/posts/softmax/index.ko.md")
    korean = replace(site.posts[0], title="소프트맥스", lang="ko", body=body)
    both = make.rendered(filed(site, replace(korean, category="커널")))
    assert words(page(both, "ko/categories/index.html").css_first("main")) == ("분류 커널 글 1편 2026-11-21 소프트맥스")
    assert hrefs(both, "ko/posts/softmax/index.html", "p.meta a[href*=categories]") == ["../../../ko/categories/커널/"]
    offered = [f"{BASE}categories/", f"{BASE}categories/", f"{BASE}ko/categories/"]
    assert hrefs(both, "categories/index.html", "link[hreflang]") == offered
    one = make.rendered(filed(site, korean))
    assert "ko/categories/index.html" not in one
    assert not hrefs(one, "categories/index.html", "[hreflang]")
