"""Turn the authors, the licence and the address of a post into the lines below it, and into an entry of BibTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sitegen.model.licences import LICENCES
from sitegen.model.site import Person, Post
from sitegen.model.urls import absolute, relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link

_ORCID = "https://orcid.org/"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPECIAL = re.compile(r"([&%$#_{}])")


@dataclass(frozen=True, slots=True)
class AuthorLine:
    """An author below the title of a post."""

    name: str
    href: str
    orcid: str
    """The address of the ORCID; empty without one."""
    avatar: str


def authors_of(sources: Sources, post: Post) -> tuple[Person, ...]:
    """Return the authors of a post; of a post that names none, the first author of the site."""
    known = sources.config.authors
    named = tuple(known[ref.name] for ref in post.authors if ref.name in known)
    return named or tuple(known.values())[:1]


def author_lines(sources: Sources, post: Post) -> tuple[AuthorLine, ...]:
    """Return the authors of a post for its page."""
    here = sources.post_url(post)
    return tuple(
        AuthorLine(
            one.name,
            one.link,
            f"{_ORCID}{one.orcid}" if one.orcid else "",
            relative(sources.assets.get(one.avatar.name, ""), here) if one.avatar else "",
        )
        for one in authors_of(sources, post)
    )


def licence_link(sources: Sources, post: Post) -> Link | None:
    """Return the licence of a post; None where neither the post nor the site names one."""
    name = post.licence or sources.config.licence
    return Link(name, LICENCES.get(name, name)) if name else None


def address_for(pattern: str, sources: Sources, post: Post) -> str:
    """Return an address of the site's settings for one post: `{path}` is its file, `{url}` its page."""
    url = quote(absolute(sources.post_url(post), sources.config), safe="")
    return pattern.replace("{path}", quote(post.body.path)).replace("{url}", url)


def citation(sources: Sources, post: Post) -> str:
    """Return a post as an entry of BibTeX; empty for a post without an author."""
    authors, date = authors_of(sources, post), sources.day_of(post.date)
    if not authors:
        return ""
    family = re.sub(r"\W", "", authors[0].name.split()[-1].lower())
    fields = {
        "author": " and ".join(_escaped(one.name) for one in authors),
        "title": f"{{{_escaped(post.title)}}}",
        "year": str(date.year),
        "howpublished": _escaped(sources.config.title),
        "url": absolute(sources.post_url(post), sources.config),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    lines.insert(3, f"  month = {_MONTHS[date.month - 1]},")
    return "\n".join([f"@misc{{{family}{date.year}{post.slug.partition('-')[0]},", *lines, "}"])


def structured_authors(sources: Sources, post: Post) -> dict[str, Any]:
    """Return the authors and the licence of a post in the words of schema.org."""
    people = [
        {"@type": "Person", "name": one.name}
        | ({"url": one.link} if one.link else {})
        | ({"sameAs": f"{_ORCID}{one.orcid}"} if one.orcid else {})
        for one in authors_of(sources, post)
    ]
    licence = licence_link(sources, post)
    return ({"author": people} if people else {}) | ({"license": licence.href} if licence else {})


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
