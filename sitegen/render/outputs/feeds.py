"""Turn posts and days into feeds: Atom and JSON of the site, Atom of a tag, a series and the worklog.

An entry has the whole text, because many people read only feeds.  Its links are absolute.  Elements that need this
site's style sheet are left out, except that the table of a chart stays.  The id of an entry comes from the place of its
file: neither its title nor its permalink nor a date changes it.  The author decides about `updated`, so that readers
are told of real news only.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from urllib.parse import urljoin

from markupsafe import escape

from sitegen.model.dates import moment
from sitegen.model.linked import document_key
from sitegen.model.site import Post, Series, WorklogEntry
from sitegen.model.urls import (
    FEED,
    HOME,
    JSON_FEED,
    POSTS,
    WORKLOG,
    absolute,
    day_url,
    series_url,
    tag_url,
)
from sitegen.read.config import zone_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.pages.authorship import authors_of
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.paging import FEED_ENTRIES
from sitegen.render.texts.filled_slots import Place, filled
from sitegen.render.texts.kept_text import kept_text

_DRAWING = re.compile(r"<svg\b([^>]*)>(.*?)</svg>", re.DOTALL)
_LABEL = re.compile(r'aria-label="([^"]*)"')
_TITLE = re.compile(r"\s*<title[^>]*>([^<]*)</title>(?:\s*<desc[^>]*>([^<]*)</desc>)?")
_UNSEEN = re.compile(r'<span class="vh">[^<]*</span>|</?span\b[^>]*>|</?picture>|<source\b[^>]*>')
_TAG = re.compile(r'<([a-z][\w-]*)((?:\s+[\w:-]+(?:="[^"]*")?)+)\s*(/?)>', re.IGNORECASE)
_ATTRIBUTE = re.compile(r'\s+([\w:-]+)(="[^"]*")?')
_OURS = re.compile(r"class|id|tabindex|role|loading|headers|aria-.*|data-.*")
"""The attributes that have a meaning only on a page of this site."""
_ADDRESSES = ("href", "src")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    title: str
    id: str
    url: str
    published: str
    updated: str
    language: str
    summary: str
    tags: tuple[str, ...]
    content: str
    """The content as HTML."""
    authors: tuple[str, ...] = ()
    """The names of its authors; empty: the author of the feed."""


@dataclass(frozen=True, slots=True)
class Feed:
    title: str
    subtitle: str
    language: str
    author: str
    home: str
    """The absolute URL of the page whose news the feed has."""
    url: str
    updated: str
    entries: tuple[FeedEntry, ...]


def site_feeds(printer: Printer, lang: str) -> dict[str, str]:
    """Return the Atom and the JSON feed of the posts in a language, by output path."""
    sources, config = printer.sources, printer.sources.config
    home, url = sources.address(HOME, lang), sources.address(FEED, lang)
    feed = _feed(printer, lang, config.title, config.description, home, url, sources.posts_in(lang))
    also = sources.address(JSON_FEED, lang)
    return dict([printer.text("feed.xml", url, feed)]) | {also: _json(feed, absolute(also, config))}


def tag_feed(printer: Printer, lang: str, tag: str) -> tuple[str, str]:
    sources, config = printer.sources, printer.sources.config
    home, posts = sources.address(tag_url(tag), lang), sources.posts_by_tag(lang)[tag]
    lede = printer.language(lang).say("Posts about {tag}.", tag=tag)
    feed = _feed(printer, lang, f"{config.title}: {tag}", lede, home, f"{home}{FEED}", posts)
    return printer.text("feed.xml", f"{home}{FEED}", feed)


def series_feed(printer: Printer, series: Series) -> tuple[str, str]:
    sources, home = printer.sources, series_url(series.id)
    title = f"{sources.config.title}: {series.title}"
    posts = sources.posts_of(series)
    feed = _feed(printer, "", title, series.tagline, home, f"{home}{FEED}", posts)
    return printer.text("feed.xml", f"{home}{FEED}", feed)


def worklog_feed(printer: Printer) -> tuple[str, str]:
    sources, config, url = printer.sources, printer.sources.config, f"{WORKLOG}{FEED}"
    entries = tuple(_day_entry(printer, entry) for entry in sources.site.worklog[:FEED_ENTRIES])
    feed = Feed(
        title=f"{config.title}: Worklog",
        subtitle="What was done each day, unpolished.",
        language=config.language,
        author=config.title,
        home=absolute(WORKLOG, config),
        url=absolute(url, config),
        updated=max((entry.updated for entry in entries), default=""),
        entries=entries,
    )
    return printer.text("feed.xml", url, feed)


def _feed(printer: Printer, lang: str, title: str, subtitle: str, home: str, url: str, posts: Sequence[Post]) -> Feed:
    sources, config = printer.sources, printer.sources.config
    shown = posts[:FEED_ENTRIES]
    newest = max((_updated(sources, post) for post in shown), default=_moment(sources, sources.as_of))
    return Feed(
        title=title,
        subtitle=subtitle,
        language=lang or config.language,
        author=config.title,
        home=absolute(home, config),
        url=absolute(url, config),
        updated=_iso(newest),
        entries=tuple(_entry(printer, post) for post in shown),
    )


def _entry(printer: Printer, post: Post) -> FeedEntry:
    sources, config = printer.sources, printer.sources.config
    here = sources.post_url(post)
    return FeedEntry(
        title=post.title,
        id=absolute(sources.address(f"{POSTS}{post.slug}/", post.lang), config),
        url=absolute(here, config),
        published=_iso(_moment(sources, post.date)),
        updated=_iso(_updated(sources, post)),
        language=sources.language_of(post),
        summary=post.description,
        tags=tuple(ref.name for ref in post.tags),
        content=_content(printer, Place(document_key(post.body), here, post, post.lang), post),
        authors=tuple(one.name for one in authors_of(sources, post)),
    )


def _day_entry(printer: Printer, entry: WorklogEntry) -> FeedEntry:
    sources, here = printer.sources, day_url(entry.date)
    url, day = absolute(here, sources.config), _iso(_moment(sources, entry.date))
    content = _content(printer, Place(document_key(entry.body), here), entry)
    return FeedEntry(
        title=entry.date.isoformat(),
        id=url,
        url=url,
        published=day,
        updated=day,
        language=sources.config.language,
        summary="",
        tags=(),
        content=content,
    )


def _content(printer: Printer, place: Place, text: Post | WorklogEntry) -> str:
    """Return the HTML of a text for feeds.  It is kept, because a post stands in the feeds of the site, of its tags and
    of its series.
    """
    if place.name not in printer.kept:
        printer.kept[place.name] = str(kept_text(printer, FEED, text, partial(_portable, printer, place, text)))
    return printer.kept[place.name]


def _portable(printer: Printer, place: Place, text: Post | WorklogEntry, html: str) -> str:
    shown = filled(printer, printer.sources.document(text.body), place, html)
    return portable_html(str(shown), absolute(place.here, printer.sources.config))


def portable_html(html: str, url: str) -> str:
    """Return the HTML of the page at the absolute `url` in a form that other programs can show."""
    plain = _UNSEEN.sub("", _DRAWING.sub(_described, html))
    return _TAG.sub(lambda tag: f"<{tag[1]}{_attributes(tag[2], url)}{tag[3]}>", plain)


def _described(drawing: re.Match[str]) -> str:
    if label := _LABEL.search(drawing[1]):
        return f"<em>[{label[1]}]</em>"
    title = _TITLE.match(drawing[2])
    return f"<em>[{'. '.join(filter(None, title.groups()))}]</em>" if title else ""


def _attributes(written: str, url: str) -> str:
    kept = []
    for name, value in _ATTRIBUTE.findall(written):
        if name in _ADDRESSES:
            kept.append(f' {name}="{escape(urljoin(url, unescape(value[2:-1])))}"')
        elif not _OURS.fullmatch(name):
            kept.append(f" {name}{value}")
    return "".join(kept)


def _json(feed: Feed, url: str) -> str:
    """Return the feed as JSON Feed 1.1, https://www.jsonfeed.org/version/1.1/."""
    items = [
        {
            "id": entry.id,
            "url": entry.url,
            "title": entry.title,
            "content_html": entry.content,
            **({"summary": entry.summary} if entry.summary else {}),
            "date_published": entry.published,
            "date_modified": entry.updated,
            **({"tags": entry.tags} if entry.tags else {}),
            **({"authors": [{"name": name} for name in entry.authors]} if entry.authors else {}),
            "language": entry.language,
        }
        for entry in feed.entries
    ]
    head = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.home,
        "feed_url": url,
        **({"description": feed.subtitle} if feed.subtitle else {}),
        "language": feed.language,
        "authors": [{"name": feed.author, "url": feed.home}],
    }
    return json.dumps({**head, "items": items}, ensure_ascii=False, indent=1) + "\n"


def _updated(sources: Sources, post: Post) -> dt.datetime:
    """Return when the post was updated, or when it was published if that is later."""
    published = _moment(sources, post.date)
    return max(published, _moment(sources, post.updated)) if post.updated else published


def _moment(sources: Sources, date: dt.date | dt.datetime) -> dt.datetime:
    return moment(date, zone_of(sources.config))


def _iso(time: dt.datetime) -> str:
    return time.isoformat(timespec="seconds")
