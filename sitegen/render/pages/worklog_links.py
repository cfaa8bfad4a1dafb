"""Print the reading list of the worklog: what is to be read, what is being read, what was read, and all other links."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from sitegen.model.site import Post
from sitegen.model.urls import LINKS, WORKLOG, day_url, list_page_url, relative
from sitegen.read.reading_list import Reading, ReadingItem, canonical
from sitegen.render.pages.worklog import plain_line
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.paging import on_page, pages_of
from sitegen.render.shared.structured import About

_GROUPS = {
    Reading.TO_READ: ("To read", "The diary says that it is to be read."),
    Reading.READING: ("Reading", "Read in part."),
    Reading.READ: ("Read", "The diary says that it was read."),
    Reading.UNSAID: ("Linked", "The diary does not say whether it was read."),
}


@dataclass(frozen=True, slots=True)
class NoteLine:
    text: str
    day: str
    href: str


@dataclass(frozen=True, slots=True)
class LinkItem:
    title: str
    href: str
    site: str
    """The host of the address; empty when the title is the address."""
    times: str
    seen: tuple[Link, ...]
    """The days on which it was first and last written, or the post that has it."""
    notes: tuple[NoteLine, ...]


@dataclass(frozen=True, slots=True)
class LinkGroup:
    title: str
    about: str
    items: tuple[LinkItem, ...]


@dataclass(frozen=True, slots=True)
class LinksPage:
    groups: tuple[LinkGroup, ...]
    summary: str
    worklog: str
    stylesheet: str
    newer: str
    older: str
    number: int
    pages: int


def link_list(
    printer: Printer, number: int, known: tuple[ReadingItem, ...], posts_of: Mapping[str, tuple[Post, ...]]
) -> tuple[str, str]:
    """Return page `number`, from 1, of the reading list.

    `known` are all links of the worklog; `posts_of` are the posts that have a link, by its `canonical` address.
    """
    here = list_page_url(LINKS, number)
    items = sorted(known, key=lambda item: list(_GROUPS).index(item.reading))
    total, shown = pages_of(items), on_page(items, number)
    groups = (
        LinkGroup(*words, tuple(_item(printer, item, here, posts_of) for item in shown if item.reading is reading))
        for reading, words in _GROUPS.items()
    )
    page = LinksPage(
        groups=tuple(group for group in groups if group.items),
        summary=_summary(known),
        worklog=relative(WORKLOG, here),
        stylesheet=relative(printer.sources.assets["worklog.css"], here),
        newer=relative(list_page_url(LINKS, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(LINKS, number + 1), here) if number < total else "",
        number=number,
        pages=total,
    )
    title = "Links" if number == 1 else f"Links, page {number}"
    description = "Every link of the worklog, with the notes on it and how far it was read."
    about = About(("CollectionPage",))
    return printer.page("links.html", here, page, title=title, description=description, section=WORKLOG, about=about)


def _summary(items: tuple[ReadingItem, ...]) -> str:
    counts = {reading: sum(item.reading is reading for item in items) for reading in _GROUPS}
    said = ", ".join(f"{count} {reading}" for reading, count in counts.items() if count)
    return f"{numbers.count(len(items), 'link')}: {said}."


def _item(printer: Printer, item: ReadingItem, here: str, posts_of: Mapping[str, tuple[Post, ...]]) -> LinkItem:
    address = item.url if "://" in item.url else f"https://{item.url}"
    site, posts = urlsplit(address).netloc.removeprefix("www."), posts_of.get(canonical(item.url), ())
    title = plain_line(item.title) or item.url.partition("://")[2] or item.url
    return LinkItem(
        title=title,
        href=address,
        site=site if item.title else "",
        times=f"written {numbers.count(len(item.dates) + len(posts), 'time')}",
        seen=(
            *(_day(date, here) for date in dict.fromkeys((item.dates[0], item.dates[-1]))),
            *(Link(post.title, relative(printer.sources.post_url(post), here)) for post in posts),
        ),
        notes=tuple(_notes(item, here)),
    )


def _notes(item: ReadingItem, here: str) -> Iterator[NoteLine]:
    for note in item.notes:
        yield NoteLine(plain_line(note.text), numbers.day(note.date), relative(day_url(note.date), here))


def _day(date: dt.date, here: str) -> Link:
    return Link(numbers.day(date), relative(day_url(date), here))
