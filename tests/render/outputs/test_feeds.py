"""Feeds, as a feed reader receives them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import feedparser
import pytest

from sitegen.model.site import Ref
from sitegen.render.outputs.feeds import portable_html

Pages = dict[str, str | bytes]
FEEDS = ("series", "tags", "worklog")


def parsed(pages: Mapping[str, str | bytes], path: str) -> Any:
    return feedparser.parse(str(pages[path]).encode(), response_headers={"content-type": "application/atom+xml"})


@pytest.fixture(scope="module")
def whole(make: SimpleNamespace) -> Pages:
    """The files of a site with every feed, in two languages, with a title that XML must escape."""
    site = make.site()
    softmax, *others = site.posts
    odd = replace(softmax, title="A < B & 'C' ]]>")
    korean = replace(
        softmax, title="소프트맥스", lang="ko", body=replace(softmax.body, path="content/posts/softmax/index.ko.md")
    )
    site = replace(site, posts=(odd, korean, *others), config=replace(site.config, feeds=FEEDS))
    return make.rendered(site)


def test_a_feed_reader_finds_no_fault_in_any_feed(whole: Pages) -> None:
    feeds = [path for path in whole if path.endswith("feed.xml")]
    assert {"feed.xml", "ko/feed.xml", "series/gpu-systems/feed.xml", "tags/triton/feed.xml", "worklog/feed.xml"} <= {
        *feeds
    }
    for path in feeds:
        feed = parsed(whole, path)
        assert not feed.bozo, (path, feed.get("bozo_exception"))
        assert feed.feed.id
        assert feed.feed.updated_parsed
        assert [link.href for link in feed.feed.links if link.rel == "self"] == [f"https://example.org/blog/{path}"]
        assert feed.entries
        assert all(entry.id and entry.title and entry.link and entry.updated_parsed for entry in feed.entries), path
        assert len({entry.id for entry in feed.entries}) == len(feed.entries)


def test_feeds_of_tags_series_and_days_are_written_only_when_asked_for(pages: Pages) -> None:
    assert [path for path in pages if "feed" in path] == ["feed.json", "feed.xml"]


def test_an_entry_brings_the_whole_text_with_absolute_links(whole: Pages) -> None:
    entry = parsed(whole, "feed.xml").entries[0]
    html = entry.content[0].value
    assert entry.title == "A < B & 'C' ]]>"
    assert 'href="https://example.org/blog/posts/sum/"' in html
    assert 'href="https://triton-lang.org/"' in html
    assert "A row of −∞ gives NaN." in html
    assert "<td>" in html
    assert 'href="#' not in html
    assert 'href="../' not in html
    assert "<svg" not in html
    assert "class=" not in html


def test_the_id_of_an_entry_outlives_its_title_its_date_and_its_permalink(make: SimpleNamespace) -> None:
    site = make.site()
    moved = replace(site.posts[0], title="Another", date=dt.date(2026, 11, 20), permalink="/elsewhere/")
    before = parsed(make.rendered(site), "feed.xml").entries[0]
    after = parsed(make.rendered(replace(site, posts=(moved, *site.posts[1:]))), "feed.xml").entries[0]
    assert before.id == after.id
    assert after.link == "https://example.org/blog/elsewhere/"


def test_a_feed_is_as_new_as_its_newest_update_wherever_the_clocks_are(make: SimpleNamespace) -> None:
    site = make.site()
    seoul = dt.timezone(dt.timedelta(hours=9))
    first = replace(site.posts[0], updated=dt.datetime(2026, 11, 22, 1, tzinfo=seoul))
    second = replace(site.posts[1], updated=dt.datetime(2026, 11, 21, 20, tzinfo=dt.UTC))
    feed = parsed(make.rendered(replace(site, posts=(first, second))), "feed.xml")
    assert feed.feed.updated == "2026-11-21T20:00:00+00:00"
    assert [entry.updated for entry in feed.entries] == ["2026-11-22T01:00:00+09:00", "2026-11-21T20:00:00+00:00"]
    assert feed.entries[0].published == "2026-11-21T00:00:00+00:00"


def test_an_update_from_before_the_publication_is_none(make: SimpleNamespace) -> None:
    site = make.site()
    odd = replace(site.posts[0], updated=dt.date(2026, 11, 1))
    assert (
        parsed(make.rendered(replace(site, posts=(odd, *site.posts[1:]))), "feed.xml")
        .entries[0]
        .updated.startswith("2026-11-21")
    )


def test_the_json_feed_says_the_same(whole: Pages) -> None:
    feed, atom = json.loads(str(whole["feed.json"])), parsed(whole, "feed.xml")
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["feed_url"] == "https://example.org/blog/feed.json"
    assert [item["id"] for item in feed["items"]] == [entry.id for entry in atom.entries]
    assert feed["items"][0]["title"] == "A < B & 'C' ]]>"
    assert feed["items"][0]["tags"] == ["triton"]
    assert all(item["content_html"] and item["date_modified"] for item in feed["items"])


def test_each_language_has_its_own_feed(whole: Pages) -> None:
    assert [entry.title for entry in parsed(whole, "ko/feed.xml").entries] == ["소프트맥스"]
    assert parsed(whole, "ko/feed.xml").feed.language == "ko"
    assert "소프트맥스" not in str(whole["feed.xml"])


def test_a_list_leads_to_its_own_feed(whole: Pages) -> None:
    link = 'type="application/atom+xml" title="Warp &amp; Weft: triton" href="../../tags/triton/feed.xml"'
    assert link in str(whole["tags/triton/index.html"])


def test_a_feed_of_a_tag_with_another_spelling_has_both_posts(make: SimpleNamespace) -> None:
    site = make.site()
    other = replace(site.posts[1], tags=(Ref("Triton", site.posts[1].span),))
    site = replace(site, posts=(site.posts[0], other), config=replace(site.config, feeds=("tags",)))
    assert len(parsed(make.rendered(site), "tags/triton/feed.xml").entries) == 2


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<a href="../x/?a=1&amp;b=2">x</a>', '<a href="https://example.org/x/?a=1&amp;b=2">x</a>'),
        ('<p>href="../x/"</p>', '<p>href="../x/"</p>'),
        ('<svg aria-label="Two bars"><g><text>1</text></g></svg>', "<em>[Two bars]</em>"),
        ('<svg aria-hidden="true"><path d="M0 0"/></svg>', ""),
        ('<span class="vh">Done: </span>It <span class="k">is</span>', "It is"),
        ('<td colspan="2" class="w" data-x="1">a</td>', '<td colspan="2">a</td>'),
        ('<img src="a.png" alt="" loading="lazy">', '<img src="https://example.org/y/a.png" alt="">'),
        ('<input type="checkbox" disabled>', '<input type="checkbox" disabled>'),
    ],
)
def test_what_only_this_site_can_show_is_left_out(html: str, shown: str) -> None:
    assert portable_html(html, "https://example.org/y/") == shown
