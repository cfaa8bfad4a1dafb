"""A site whose names all lead somewhere: what the link stage adds to what the author wrote."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitegen.model.site import Markdown, Post, Series, Site

if TYPE_CHECKING:
    from sitegen.model.bibliography import Work
    from sitegen.model.image import Image


@dataclass(frozen=True, slots=True)
class SeriesPlace:
    """Where a post stands in a series."""

    series: Series
    phase: int
    """Index into `series.phases`."""
    number: int
    """From 1, over all phases."""
    total: int
    """Published posts of the series."""
    previous: Post | None = None
    next: Post | None = None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """By date."""

    previous: Post | None = None
    """Older."""
    next: Post | None = None
    """Newer."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Drafts and posts of the future are in none of this."""

    site: Site
    """Posts newest first; series without the posts that are not published; kernels with the implementations that
    stand in cells.
    """
    hrefs: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """What link and image slots lead to, by `document_key` and slot index: a URL from the site's root
    (`posts/softmax/#anchor`) or an external one as it was written.  A slot that leads nowhere is missing.
    """
    rich: Collection[str] = ()
    """By `document_key`, the texts in which there is more than links: of thousands, few."""
    assets: Mapping[str, str] = field(default_factory=dict)
    """The files that texts show or link, by URL: `posts/softmax/plot.png` → `content/posts/softmax/plot.png`."""
    images: Mapping[str, Image] = field(default_factory=dict)
    """The images that texts show, by the URL that an href has."""
    references: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    """By `document_key`, the works that a text cites, in the order of its list; a text without a bibliography is not
    there.
    """
    redirects: Mapping[str, str] = field(default_factory=dict)
    """URL of an alias → URL of what it stands for."""
    kernel_posts: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """By kernel, the posts that show, measure or implement it, newest first."""
    backlinks: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """By URL without anchor, the posts that link to it, newest first."""
    series_places: Mapping[str, tuple[SeriesPlace, ...]] = field(default_factory=dict)
    """By a post's path, one for each series that lists it."""
    neighbours: Mapping[str, Neighbours] = field(default_factory=dict)
    """By a post's path."""
    related: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    """By a post's path, those that are nearest to it in what they are about."""


def document_key(text: Markdown) -> str:
    """How a text's Document is named: several days of a worklog stand in one file."""
    return text.path if text.first_line == 1 else f"{text.path}:{text.first_line}"


def originals(site: Site) -> tuple[Post, ...]:
    """One post of each slug, in their order: of translations the one in the site's language, else the first by path.

    A translation shows what the cells of its original gave.
    """
    if len({post.slug for post in site.posts}) == len(site.posts):
        return site.posts
    own = ("", site.config.language)
    first: dict[str, Post] = {}
    for post in sorted(site.posts, key=lambda post: (post.lang not in own, post.body.path)):
        first.setdefault(post.slug, post)
    return tuple(post for post in site.posts if first[post.slug] is post)


def texts(site: Site) -> Iterator[Markdown]:
    """Every Markdown text of a site."""
    yield from (post.body for post in site.posts)
    yield from (page.body for page in site.pages)
    yield from (term.body for term in site.terms)
    yield from (entry.body for entry in site.worklog)
    if site.worklog_intro is not None:
        yield site.worklog_intro
