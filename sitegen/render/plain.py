"""The small pages: those outside of time, terms, 404, and what machines read: feed, sitemap, robots."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.dates import moment
from sitegen.model.linked import document_key
from sitegen.model.site import Page, Term
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


def text_page(printer: Printer, page: Page) -> tuple[str, str]:
    """A page outside of time."""
    here = page_url(page, printer.sources.config)
    body = fill(printer, printer.sources.document(page.body), Place(document_key(page.body), here))
    text = TextPage(page.title, page.description, body)
    return printer.page("page.html", here, text, title=page.title, description=page.description, lang=page.lang)


def term_page(printer: Printer, term: Term) -> tuple[str, str]:
    here = term_url(term.slug)
    body = fill(printer, printer.sources.document(term.body), Place(document_key(term.body), here))
    text = TextPage(term.title, "", body, Link("Terms", relative(TERMS, here)))
    return printer.page("page.html", here, text, title=term.title)


def term_index(printer: Printer) -> tuple[str, str]:
    index = TermIndex(tuple(Link(t.title, relative(term_url(t.slug), TERMS)) for t in printer.sources.site.terms))
    return printer.page("terms.html", TERMS, index, title="Terms")


def missing_page(printer: Printer) -> tuple[str, str]:
    """Served in place of any page, so that its links are absolute paths."""
    base = base_path(printer.sources.config.base_url)
    sections = tuple(Link(text, f"{base}{url}") for text, url in navigation(printer.sources))
    return printer.page("404.html", NOT_FOUND, Missing(base, sections), title="Not found", base=base)


def feed(printer: Printer) -> tuple[str, str]:
    sources, config = printer.sources, printer.sources.config
    entries = _entries(sources)
    made = Feed(
        title=config.title,
        subtitle=config.description,
        language=config.language,
        home=config.base_url,
        url=absolute(FEED, config),
        updated=max((entry.updated for entry in entries), default=_iso(sources, sources.as_of)),
        entries=entries,
    )
    return printer.text("feed.xml", FEED, made)


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


def sitemap(printer: Printer, paths: Iterable[str]) -> tuple[str, str]:
    """`paths` are the output paths of all pages that readers should be led to."""
    pages = sorted(p.removesuffix("index.html") for p in paths if p.endswith("index.html"))
    urls = tuple(absolute(page, printer.sources.config) for page in pages)
    return printer.text("sitemap.xml", SITEMAP, urls)


def robots(printer: Printer) -> tuple[str, str]:
    return printer.text("robots.txt", "robots.txt", absolute(SITEMAP, printer.sources.config))


def redirect(printer: Printer, alias: str, url: str) -> tuple[str, str]:
    """A page at an alias that leads to where the thing is now."""
    leads = Redirect(relative(url, alias), absolute(url, printer.sources.config))
    return output_path(alias), printer.text("redirect.html", alias, leads)[1]
