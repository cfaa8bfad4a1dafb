"""Turn what is known of a page into JSON-LD with the words of schema.org, for programs that read it.

A data block is no script: a browser does not run it and the page's policy lets it stand.
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
    """What a page is, beyond its title and description."""

    kinds: tuple[str, ...] = ("WebPage",)
    """Types of schema.org; none: nothing to tell machines of."""
    published: str = ""
    """ISO 8601; as `modified`."""
    modified: str = ""
    tags: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further properties of schema.org."""
    series: Sequence[tuple[str, str]] = ()
    """Title and URL, from the site's root, of those that it is a part of."""
    card: bool = False
    """Whether it has a picture of its own, if the site has such; else that of the site stands for it."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """By language the URL of the same page, this one too; empty where there is but one."""
    feed: tuple[str, str] = ("", "")
    """Title and URL of a feed of what the page lists."""

    @property
    def is_article(self) -> bool:
        return bool(self.published)


PAGE = About()
NOTHING = About(())
COLLECTION = About(("CollectionPage",))


@dataclass(frozen=True, slots=True)
class Identity:
    """What every page says of itself, with absolute URLs."""

    url: str
    title: str
    description: str
    language: str
    root: str
    """base_url."""
    site: str
    """Of the home page in that language."""
    site_title: str
    trail: Sequence[tuple[str, str]]
    """Name and URL of the pages above this one, the home page first."""


def structured(page: Identity, about: About, image: str) -> Markup:
    """The content of a `<script type="application/ld+json">`; `image` is an absolute URL or empty."""
    if not about.kinds:
        return Markup()
    site = {"@type": "WebSite", "@id": f"{page.site}#site", "url": page.site, "name": page.site_title}
    if page.url == page.site:
        graph = [site | {"description": page.description, "inLanguage": page.language}]
    else:
        graph = [_thing(page, about, image, site), _breadcrumbs(page)]
    encoded = _encoded({"@context": "https://schema.org", "@graph": graph})
    return Markup(encoded.replace("<", "\\u003c").replace("&", "\\u0026"))  # nothing in it ends the element around it


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
