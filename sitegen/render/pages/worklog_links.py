"""Print the reading list: what is to be read, what is being read, what was read, and all other links of the worklog and
the posts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from markupsafe import Markup

from sitegen.model.linked import document_key
from sitegen.model.urls import LINKS, day_url, relative
from sitegen.read.reading_list import Reading, ReadingItem, canonical
from sitegen.render.inputs.sources import PlaceOfLink
from sitegen.render.pages.worklog import plain_line
from sitegen.render.pages.worklog_groups import Group, GroupedList, print_groups
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.texts.link_words import link_words

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
    title: str | Markup
    href: str
    site: str
    """The host of the address; empty when the title is the address."""
    times: str
    seen: tuple[Link, ...]
    """The days on which it was first and last written, or the post that has it."""
    notes: tuple[NoteLine, ...]


def link_list(printer: Printer, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of the reading list."""
    sources = printer.sources
    of_posts = tuple(address for address in sources.posts_by_link if address not in sources.reading_list)
    known = tuple(sources.reading_list.values())
    listed = GroupedList(
        url=LINKS,
        template="links.html",
        title="Links",
        description="Every link of the worklog and the posts, with the notes on it and how far it was read.",
        summary=_summary(known, len(of_posts)),
        groups=(
            *(
                Group(*words, tuple(item for item in known if item.reading is reading))
                for reading, words in _GROUPS.items()
            ),
            Group("In posts", "The diary does not have these.", of_posts),
        ),
    )
    return print_groups(printer, listed, number, lambda entry, here: _row(printer, entry, here))


def _row(printer: Printer, entry: ReadingItem | str, here: str) -> LinkItem:
    return _item(printer, entry, here) if isinstance(entry, ReadingItem) else _item_of_posts(printer, entry, here)


def _summary(items: tuple[ReadingItem, ...], of_posts: int) -> str:
    counts = {f"{reading}": sum(item.reading is reading for item in items) for reading in _GROUPS}
    counts["only in posts"] = of_posts
    said = ", ".join(f"{count} {reading}" for reading, count in counts.items() if count)
    return f"{numbers.count(len(items) + of_posts, 'link')}: {said}."


def _item_of_posts(printer: Printer, address: str, here: str) -> LinkItem:
    """Return a link that only posts have, with the words of the newest of them."""
    places = printer.sources.posts_by_link[address]
    first = places[0]
    words = printer.of_text(document_key(first.post.body), lambda html: Markup(link_words(html).get(first.slot, "")))
    return LinkItem(
        title=words or first.href.partition("://")[2],
        href=first.href,
        site=_site(first.href),
        times=f"written {numbers.count(len(places), 'time')}",
        seen=tuple(_posts(printer, places, here)),
        notes=(),
    )


def _site(address: str) -> str:
    return urlsplit(address).netloc.removeprefix("www.")


def _posts(printer: Printer, places: Iterable[PlaceOfLink], here: str) -> Iterator[Link]:
    """Yield a link to each post."""
    for place in places:
        yield Link(place.post.title, relative(printer.sources.post_url(place.post), here))


def _item(printer: Printer, item: ReadingItem, here: str) -> LinkItem:
    address = item.url if "://" in item.url else f"https://{item.url}"
    posts = printer.sources.posts_by_link.get(canonical(item.url), ())
    return LinkItem(
        title=plain_line(item.title) or item.url.partition("://")[2] or item.url,
        href=address,
        site=_site(address) if item.title else "",
        times=f"written {numbers.count(len(item.dates) + len(posts), 'time')}",
        seen=(
            *(_day(date, here) for date in dict.fromkeys((item.dates[0], item.dates[-1]))),
            *_posts(printer, posts, here),
        ),
        notes=tuple(_notes(item, here)),
    )


def _notes(item: ReadingItem, here: str) -> Iterator[NoteLine]:
    for note in item.notes:
        yield NoteLine(plain_line(note.text), numbers.day(note.date), relative(day_url(note.date), here))


def _day(date: dt.date, here: str) -> Link:
    return Link(numbers.day(date), relative(day_url(date), here))
