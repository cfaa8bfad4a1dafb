"""Posts → their pages, the archive in pages of 50, and the pages of their tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import Document, Heading
from sitegen.model.linked import Neighbours, document_key
from sitegen.model.site import Post
from sitegen.model.urls import POSTS, TAGS, kernel_url, list_page_url, relative, tag_url
from sitegen.render import numbers
from sitegen.render.frame import Fact, Link, Printer
from sitegen.render.paging import on_page, pages_of
from sitegen.render.series import Position, positions
from sitegen.render.slots import Place, fill
from sitegen.render.sources import Sources


@dataclass(frozen=True, slots=True)
class PostLine:
    """A post in a list."""

    title: str
    href: str
    iso: str
    day: str
    description: str
    minutes: str


@dataclass(frozen=True, slots=True)
class PostList:
    title: str
    lede: str
    posts: tuple[PostLine, ...]
    newer: str
    older: str
    number: int
    pages: int
    tags: tuple[Link, ...]
    all_tags: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents list."""

    number: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Plate:
    id: str
    kernel: str
    href: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PostPage:
    title: str
    lede: str
    iso: str
    day: str
    updated_iso: str
    updated: str
    category: str
    minutes: str
    kernels: tuple[Link, ...]
    tags: tuple[Link, ...]
    stale: str
    """`2 of 9 results stale`; empty when all are fresh."""
    contents: tuple[Entry, ...]
    body: Markup
    plates: tuple[Plate, ...]
    places: tuple[Position, ...]
    newer: Link | None
    older: Link | None
    discuss: str


@dataclass(frozen=True, slots=True)
class TagIndex:
    tags: tuple[tuple[Link, str], ...]
    """Each with the number of its posts."""


def post_line(sources: Sources, post: Post, here: str) -> PostLine:
    date, words = sources.day_of(post.date), sources.document(post.body).words
    href, minutes = relative(sources.post_url(post), here), numbers.reading_time(words)
    return PostLine(post.title, href, date.isoformat(), numbers.day(date), post.description, minutes)


def list_page(
    printer: Printer, url: str, title: str, lede: str, posts: Sequence[Post], number: int, *, tags: bool = False
) -> tuple[str, str]:
    """Page `number`, from 1, of the archive or of a tag: `<url>`, `<url>page/2/`, …"""
    sources, here, total = printer.sources, list_page_url(url, number), pages_of(posts)
    links = tuple(Link(tag, relative(tag_url(tag), here)) for tag in sources.posts_by_tag) if tags else ()
    page = PostList(
        title=title,
        lede=lede,
        posts=tuple(post_line(sources, post, here) for post in on_page(posts, number)),
        newer=relative(list_page_url(url, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(url, number + 1), here) if number < total else "",
        number=number,
        pages=total,
        tags=links,
        all_tags=relative(TAGS, here),
    )
    name = title if number == 1 else f"{title}, page {number}"
    return printer.page("posts.html", here, page, title=name, description=lede, section=POSTS)


def tags_page(printer: Printer) -> tuple[str, str]:
    tags = printer.sources.posts_by_tag
    found = tuple((Link(t, relative(tag_url(t), TAGS)), numbers.count(len(p), "post")) for t, p in tags.items())
    return printer.page("tags.html", TAGS, TagIndex(found), title="Tags", section=POSTS)


def post_files(printer: Printer, post: Post) -> dict[str, str | bytes]:
    """Its page, and what its cells drew."""
    pages: dict[str, str | bytes] = dict([_post_page(printer, post)])
    if printer.sources.document(post.body).cells:
        from sitegen.render.cells import images

        pages |= images(printer.sources, post)
    return pages


def _post_page(printer: Printer, post: Post) -> tuple[str, str]:
    sources, here = printer.sources, printer.sources.post_url(post)
    document = sources.document(post.body)
    kernels = sources.kernels_of.get(post.body.path, ())
    date = sources.day_of(post.date)
    updated = sources.day_of(post.updated) if post.updated else None
    beside = sources.linked.neighbours.get(post.body.path, Neighbours())
    page = PostPage(
        title=post.title,
        lede=post.description,
        iso=date.isoformat(),
        day=numbers.day(date),
        updated_iso=updated.isoformat() if updated else "",
        updated=numbers.day(updated) if updated else "",
        category=post.category,
        minutes=numbers.reading_time(document.words),
        kernels=tuple(Link(name, relative(kernel_url(name), here)) for name in kernels),
        tags=tuple(Link(ref.name, relative(tag_url(ref.name), here)) for ref in post.tags),
        stale=_stale(sources, kernels) if kernels else "",
        contents=contents(document),
        body=fill(printer, document, Place(document_key(post.body), here, post)),
        plates=_plates(sources, kernels, here) if kernels else (),
        places=positions(sources, post, here),
        newer=_link(sources, beside.next, here),
        older=_link(sources, beside.previous, here),
        discuss=post.discuss,
    )
    return printer.page(
        "post.html",
        here,
        page,
        title=post.title,
        description=post.description,
        section=POSTS,
        lang=post.lang,
    )


def _link(sources: Sources, post: Post | None, here: str) -> Link | None:
    return Link(post.title, relative(sources.post_url(post), here)) if post else None


def _stale(sources: Sources, kernels: Sequence[str]) -> str:
    """How many of the results of these kernels are stale."""
    from sitegen.render.measured import stale_of

    counts = [
        stale_of(sources.evidence, kernel, record)
        for name in kernels
        if (kernel := sources.kernel(name))
        for record in sources.records(name)
    ]
    stale = sum(count for count, _ in counts)
    return f"{stale} of {sum(total for _, total in counts)} results stale" if stale else ""


def _plates(sources: Sources, kernels: Sequence[str], here: str) -> tuple[Plate, ...]:
    """What made the numbers of the post: one plate a kernel and GPU."""
    from sitegen.render.plates import record_plate
    from sitegen.render.tables import part_of_id

    return tuple(
        Plate(
            f"record-{part_of_id(name)}-{record.gpu}",
            name,
            relative(kernel_url(name), here),
            record_plate(record, relative(f"{kernel_url(name)}{record.gpu}.json", here)),
        )
        for name in kernels
        for record in sources.records(name)
    )


def contents(document: Document) -> tuple[Entry, ...]:
    """Headings of the second level, numbered as on the page."""
    shown: list[Heading] = [heading for heading in document.headings if heading.level == 2]
    return tuple(Entry(str(n), heading.text, f"#{heading.id}") for n, heading in enumerate(shown, start=1))
