"""Describe a page as JSON-LD with the words of schema.org, for programs that read it.

A data block is not a script: a browser does not run it, and the page's policy allows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

ARTICLE = ("TechArticle", "BlogPosting")
_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a page, beyond its title and description."""

    kinds: tuple[str, ...] = ("WebPage",)
    """Types of schema.org; an empty tuple means that the page has no data block."""
    published: str = ""
    """The day or time of publication as ISO 8601; `modified` has the same form."""
    modified: str = ""
    tags: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further properties of schema.org."""
    series: Sequence[tuple[str, str]] = ()
    """The title of each series that the page belongs to, and its URL from the site's root."""
    card: bool = False
    """Whether the page has a card of its own; otherwise the site's card serves."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The URL of the page in each language, this one included, by language; empty when there is only one."""
    feed: tuple[str, str] = ("", "")
    """The title and the URL of the feed of the page's posts."""

    @property
    def is_article(self) -> bool:
        return bool(self.published)


PAGE = About()
NOTHING = About(())
COLLECTION = About(("CollectionPage",))


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a page, with absolute URLs."""

    url: str
    title: str
    description: str
    language: str
    root: str
    """The `base_url` of the site."""
    site: str
    """The URL of the home page in the page's language."""
    site_title: str
    trail: Sequence[tuple[str, str]]
    """The name and the URL of each page above this one, the home page first."""


def structured(page: Identity, about: About, image: str) -> Markup:
    """Return the content of a `<script type="application/ld+json">`; `image` is an absolute URL or empty."""
    if not about.kinds:
        return Markup()
    site = {"@type": "WebSite", "@id": f"{page.site}#site", "url": page.site, "name": page.site_title}
    if page.url == page.site:
        graph = [site | {"description": page.description, "inLanguage": page.language}]
    else:
        graph = [_thing(page, about, image, site), _breadcrumbs(page)]
    encoded = _encoded({"@context": "https://schema.org", "@graph": graph})
    return Markup(encoded.replace("<", "\\u003c").replace("&", "\\u0026"))  # so that no text ends the script element


def _thing(page: Identity, about: About, image: str, site: Mapping[str, Any]) -> dict[str, Any]:
    kinds = about.kinds
    thing: dict[str, Any] = {"@type": kinds[0] if len(kinds) == 1 else list(kinds), "@id": page.url, "url": page.url}
    thing |= {"headline" if about.is_article else "name": page.title, "inLanguage": page.language}
    if page.description:
        thing["description"] = page.description
    if about.is_article:
        author = {"@type": "Organization", "name": page.site_title, "url": page.site}
        thing |= {"datePublished": about.published, "dateModified": about.modified or about.published}
        thing |= {"author": author, "publisher": author}
    if about.tags:
        thing["keywords"] = list(about.tags)
    if image:
        thing["image"] = image
    series = [{"@type": "CreativeWorkSeries", "name": title, "url": f"{page.root}{url}"} for title, url in about.series]
    return {**thing, "isPartOf": [site, *series] if series else site, **about.facts}


def _breadcrumbs(page: Identity) -> dict[str, Any]:
    steps = (*page.trail, (page.title, page.url))
    items = [
        {"@type": "ListItem", "position": number, "name": name, "item": url}
        for number, (name, url) in enumerate(steps, start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}
