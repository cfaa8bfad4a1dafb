"""Name the plain texts of a site that may hold a figure of a record: titles, descriptions and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitegen.model.kernel import Kernel
from sitegen.model.site import Page, Post, Series, Site

Titled = Post | Page | Kernel | Series
FIELDS: Mapping[type, tuple[str, ...]] = {
    Post: ("title", "description"),
    Page: ("title", "description"),
    Kernel: ("summary",),
    Series: ("title", "tagline"),
}
"""The fields of each class that may hold a figure."""
_ROLE = "}`"
"""The characters within every role, such as `{value}` with its text."""


def titled(site: Site) -> Iterator[Titled]:
    """Yield everything with a title, a description or a summary."""
    yield from site.posts
    yield from site.pages
    yield from site.kernels
    yield from site.series


def has_figures(one: Titled) -> bool:
    """Tell whether a title, a description or a summary has a role."""
    return any(_ROLE in getattr(one, name) for name in FIELDS[type(one)])
