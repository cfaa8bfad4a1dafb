"""A site with its names resolved: links, images, citations, and the relations between posts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitegen.model.site import Exercise, Markdown, Post, Series, Site

if TYPE_CHECKING:
    from sitegen.model.bibliography import Work
    from sitegen.model.image import Image


@dataclass(frozen=True, slots=True)
class SeriesPlace:
    """The place of a post in a series."""

    series: Series
    phase: int
    """Index into `series.phases`."""
    number: int
    """Position of the post, counted from 1 over all phases."""
    total: int
    """Number of published posts of the series."""
    previous: Post | None = None
    next: Post | None = None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The posts beside a post in the order of dates."""

    previous: Post | None = None
    """The next older post."""
    next: Post | None = None
    """The next newer post."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A page that an entry of the worklog links to or names."""

    kind: str
    """`post`, `kernel`, `exercise` or `term`."""
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of linking; drafts and posts dated in the future are in no field."""

    site: Site
    """Posts newest first; series without the posts that are not published; kernels with the implementations that
    stand in cells.
    """
    hrefs: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Targets of link and image slots by `document_key` and slot index: a URL from the site's root
    (`posts/softmax/#anchor`), or an external URL as it was written.  A slot without a target is missing.
    """
    rich: Collection[str] = ()
    """Keys (`document_key`) of the texts that have slots of other kinds than links; a large site has few of them."""
    assets: Mapping[str, str] = field(default_factory=dict)
    """Paths of the files that texts show or link, by URL: `posts/softmax/plot.png` →
    `content/posts/softmax/plot.png`.
    """
    images: Mapping[str, Image] = field(default_factory=dict)
    """Images of the texts, by their URL in `hrefs`."""
    references: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    """Works that a text cites, in the order of its list, by `document_key`; a text without a bibliography is missing.
    """
    redirects: Mapping[str, str] = field(default_factory=dict)
    """Target URL of each alias, by the URL of the alias."""
    kernel_posts: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """Posts that show, measure or implement a kernel, newest first, by the kernel's name."""
    backlinks: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """Posts that link to a page, newest first, by the page's URL without an anchor."""
    mentions: Mapping[dt.date, tuple[Mention, ...]] = field(default_factory=dict)
    """Pages that the worklog mentions on a day."""
    worked_on: Mapping[str, tuple[dt.date, ...]] = field(default_factory=dict)
    """Days on which the worklog mentions a page, newest first, by the page's URL."""
    series_places: Mapping[str, tuple[SeriesPlace, ...]] = field(default_factory=dict)
    """Places of a post, one for each series that lists it, by the post's path."""
    neighbours: Mapping[str, Neighbours] = field(default_factory=dict)
    """Neighbours of a post, by its path."""
    related: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """Posts on the most similar subjects, by a post's path."""


def document_key(text: Markdown) -> str:
    """Return the name of a text's Document: the path, and for a later part of a file its first line, or its name if it
    has one, as a day of the worklog has.
    """
    if text.name:
        return f"{text.path}:{text.name}"
    return text.path if text.first_line == 1 else f"{text.path}:{text.first_line}"


def originals(site: Site) -> tuple[Post, ...]:
    """Return one post of each slug, in the order of the site's posts.

    The original among translations is the one in the site's language, else the first by path.  Translations show the
    outputs of the cells of their original.
    """
    if len({post.slug for post in site.posts}) == len(site.posts):
        return site.posts
    own = ("", site.config.language)
    first: dict[str, Post] = {}
    for post in sorted(site.posts, key=lambda post: (post.lang not in own, post.body.path)):
        first.setdefault(post.slug, post)
    return tuple(post for post in site.posts if first[post.slug] is post)


def texts(site: Site) -> Iterator[Markdown]:
    """Yield every Markdown text of a site."""
    yield from (post.body for post in site.posts)
    yield from (page.body for page in site.pages)
    yield from (term.body for term in site.terms)
    for exercise in site.exercises:
        yield from statement_and_hints(exercise)
    yield from (entry.body for entry in site.worklog)
    if site.worklog_intro is not None:
        yield site.worklog_intro


def statement_and_hints(exercise: Exercise) -> tuple[Markdown, ...]:
    """Return the texts of an exercise: the statement, and the hints if there are any."""
    return (exercise.body, *([exercise.hints] if exercise.hints else []))
