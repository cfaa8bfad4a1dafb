"""List the posts that name a kernel or use a term, for its page in the site's language."""

from __future__ import annotations

from collections.abc import Iterable

from sitegen.model.site import Post
from sitegen.model.urls import relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link


def mentions(sources: Sources, posts: Iterable[Post], here: str) -> tuple[Link, ...]:
    """Return a link to each post; of the translations of a post only one is linked."""
    return tuple(_link(sources, post, here) for post in sources.each_once(posts))


def _link(sources: Sources, post: Post, here: str) -> Link:
    lang = sources.language_of(post)
    other = "" if lang == sources.config.language else lang
    return Link(post.title, relative(sources.post_url(post), here), lang=other)
