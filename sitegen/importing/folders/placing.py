"""Choose for each text of a folder its place in the new site: section, slug, address and old addresses."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from sitegen.importing.folders.source import FolderText
from sitegen.model.urls import LISTS
from sitegen.write.scaffold import slug_of

_RESERVED = frozenset(url.strip("/") for url in LISTS)
_FIT = re.compile(r"/(?:[\w.+~-]+/)+")


@dataclass(frozen=True, slots=True)
class Found:
    """A text that a dialect wants to have in the new site."""

    text: FolderText
    url: str
    """The address on the old site, such as `/posts/softmax/`; empty where it had none."""
    date: dt.date | dt.datetime | None = None
    section: str = "posts"
    """`posts`, `pages` or `worklog`."""
    slug: str = ""
    draft: bool = False
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    """Values of other keys that a post has here, such as `description`."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text in the new site."""

    section: str
    slug: str
    address: str
    aliases: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return f"content/{self.section}/{self.slug}"

    @property
    def permalink(self) -> str:
        """The address for the front matter; empty where the slug gives the same one."""
        return self.address if self.section == "posts" and self.address != f"/posts/{self.slug}/" else ""


def placed(found: Iterable[Found]) -> Mapping[str, Place]:
    """Return the place of each text by its path.  No two texts have one slug or one address."""
    slugs: set[tuple[str, str]] = set()
    owners = {f"/{name}/" for name in _RESERVED} | {"/"}
    places: dict[str, Place] = {}
    for one in found:
        slug = _free_slug(one, slugs)
        slugs.add((one.section, slug))
        own = {"posts": f"/posts/{slug}/", "pages": f"/{slug}/"}.get(one.section, f"/worklog/{slug}/")
        old = _clean(one.url)
        address = old if one.section == "posts" and old and old not in owners else own
        owners.add(address)
        places[one.text.path] = Place(one.section, slug, address)
    return {one.text.path: _with_aliases(one, places[one.text.path], owners) for one in found}


def _with_aliases(one: Found, place: Place, owners: set[str]) -> Place:
    wanted = [alias for url in (one.url, *one.aliases) if (alias := _clean(url)) and alias not in owners]
    owners.update(wanted)
    return Place(place.section, place.slug, place.address, tuple(dict.fromkeys(wanted)))


def _clean(url: str) -> str:
    """Return an old address in the form of ours; empty where it cannot be one."""
    path = re.sub(r"index\.html?$", "", url.strip())
    path = f"/{path.strip('/')}" + ("" if re.search(r"\.html?$", path) else "/")
    return path if _FIT.fullmatch(path) or re.fullmatch(r"/(?:[\w.+~-]+/)*[\w+~-]+\.html?", path) else ""


def _free_slug(one: Found, taken: set[tuple[str, str]]) -> str:
    stem = re.sub(r"(?:^|/)(?:_?index)$", "", one.text.path.rpartition(".")[0])
    own = slug_of(one.slug) or slug_of(stem.rpartition("/")[2]) or slug_of(one.text.title) or "text"
    own = f"{own}-page" if one.section == "pages" and own in _RESERVED else own
    longer = slug_of(stem.replace("/", " ")) or own
    names = chain((own, longer), (f"{own}-{number}" for number in count(2)))
    return next(name for name in names if (one.section, name) not in taken)
