"""The small pages: those outside of time, terms, 404, and what machines read: feed, sitemap, robots."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.dates import moment
from sitegen.model.linked import document_key
from sitegen.model.urls import FEED, NOT_FOUND, SITEMAP, TERMS, absolute, output_path, page_url, relative, term_url
from sitegen.read.config import zone_of
from sitegen.render.frame import Link, Printer, base_path, navigation
from sitegen.render.slots import Place, fill
from sitegen.render.sources import Sources

FEED_ENTRIES = 30


@dataclass(frozen=True, slots=True)
class TextPage:
    title: str
    lede: str
    body: Markup
    eyebrow: Link | None = None


@dataclass(frozen=True, slots=True)
class TermIndex:
    terms: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    home: str
    sections: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    href: str
    canonical: str


@dataclass(frozen=True, slots=True)
class FeedEntry:
    title: str
    url: str
    published: str
    updated: str
    summary: str


@dataclass(frozen=True, slots=True)
class Feed:
    title: str
    subtitle: str
    language: str
    home: str
    url: str
    updated: str
    entries: tuple[FeedEntry, ...]


def render_plain(printer: Printer) -> dict[str, str]:
    return dict([*_pages(printer), *_terms(printer), _missing(printer)])


def _pages(printer: Printer) -> list[tuple[str, str]]:
    found = []
    for page in printer.sources.site.pages:
        here = page_url(page, printer.sources.config)
        body = fill(printer, printer.sources.document(page.body), Place(document_key(page.body), here))
        text = TextPage(page.title, page.description, body)
        found.append(
            printer.page("page.html", here, text, title=page.title, description=page.description, lang=page.lang)
        )
    return found


def _terms(printer: Printer) -> list[tuple[str, str]]:
    terms = printer.sources.site.terms
    found = []
    for term in terms:
        here = term_url(term.slug)
        body = fill(printer, printer.sources.document(term.body), Place(document_key(term.body), here))
        text = TextPage(term.title, "", body, Link("Terms", relative(TERMS, here)))
        found.append(printer.page("page.html", here, text, title=term.title))
    if terms:
        index = TermIndex(tuple(Link(t.title, relative(term_url(t.slug), TERMS)) for t in terms))
        found.append(printer.page("terms.html", TERMS, index, title="Terms"))
    return found


def _missing(printer: Printer) -> tuple[str, str]:
    """Served in place of any page, so that its links are absolute paths."""
    base = base_path(printer.sources.config.base_url)
    sections = tuple(Link(text, f"{base}{url}") for text, url in navigation(printer.sources))
    return printer.page("404.html", NOT_FOUND, Missing(base, sections), title="Not found", base=base)


def render_feed(printer: Printer) -> dict[str, str]:
    sources, config = printer.sources, printer.sources.config
    entries = _entries(sources)
    feed = Feed(
        title=config.title,
        subtitle=config.description,
        language=config.language,
        home=config.base_url,
        url=absolute(FEED, config),
        updated=max((entry.updated for entry in entries), default=_iso(sources, sources.as_of)),
        entries=entries,
    )
    return dict([printer.text("feed.xml", FEED, feed)])


def _entries(sources: Sources) -> tuple[FeedEntry, ...]:
    return tuple(
        FeedEntry(
            post.title,
            absolute(sources.post_url(post), sources.config),
            _iso(sources, post.date),
            _iso(sources, post.updated or post.date),
            post.description,
        )
        for post in sources.site.posts[:FEED_ENTRIES]
    )


def _iso(sources: Sources, date: dt.date | dt.datetime) -> str:
    return moment(date, zone_of(sources.config)).isoformat(timespec="seconds")


def render_sitemap(printer: Printer, paths: Iterable[str]) -> dict[str, str]:
    """`paths` are the output paths of all pages."""
    config = printer.sources.config
    pages = sorted(p.removesuffix("index.html") for p in paths if p.endswith("index.html"))
    urls = tuple(absolute(page, config) for page in pages)
    robots = absolute(SITEMAP, config)
    return dict([printer.text("sitemap.xml", SITEMAP, urls), printer.text("robots.txt", "robots.txt", robots)])


def render_redirects(printer: Printer) -> dict[str, str]:
    """A page at each alias that leads to where the thing is now."""
    config = printer.sources.config
    return {
        output_path(alias): printer.text("redirect.html", alias, Redirect(relative(url, alias), absolute(url, config)))[
            1
        ]
        for alias, url in printer.sources.linked.redirects.items()
    }
