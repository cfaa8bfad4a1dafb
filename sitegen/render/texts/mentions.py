"""List what mentions a page: the posts that name a kernel or use a term, and the days of the worklog."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable

from sitegen.model.site import Post
from sitegen.model.urls import day_url, relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link

MOST_DAYS = 12
"""The most days of the worklog that a page links to."""


def mentions(sources: Sources, posts: Iterable[Post], here: str) -> tuple[Link, ...]:
    """Return a link to each post; of the translations of a post only one is linked."""
    return tuple(_link(sources, post, here) for post in sources.each_once(posts))


def worked_on(sources: Sources, url: str, here: str, spoken: Callable[[dt.date], str]) -> tuple[Link, ...]:
    """Return a link to each of the last days on which the worklog mentions the page `url`; `spoken` names a day."""
    days = sources.linked.worked_on.get(url, ())[:MOST_DAYS]
    return tuple(Link(spoken(day), relative(day_url(day), here)) for day in days)


def _link(sources: Sources, post: Post, here: str) -> Link:
    lang = sources.language_of(post)
    other = "" if lang == sources.config.language else lang
    return Link(post.title, relative(sources.post_url(post), here), lang=other)
