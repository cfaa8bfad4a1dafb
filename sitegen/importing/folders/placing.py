"""Choose for each text of a folder its place in the new site: section, slug, address and old addresses."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from sitegen.importing.folders.source import FolderText
from sitegen.model.urls import LISTS
from sitegen.read.addresses import OLD_ADDRESS
from sitegen.write.scaffold import slug_of

_RESERVED = frozenset(url.strip("/") for url in LISTS)
_FIT = re.compile(r"[\w.+~/-]*")


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
    lang: str = ""
    """Language tag; empty for the language of the site."""
    group: str = ""
    """What a text and its translations have in common; empty: the text has none."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text in the new site."""

    section: str
    slug: str
    address: str
    aliases: tuple[str, ...] = ()
    lang: str = ""
    shares_folder: bool = False
    """Whether the text is a folder with its translations."""

    @property
    def folder(self) -> str:
        return f"content/{self.section}/{self.slug}"

    @property
    def permalink(self) -> str:
        """The address for the front matter; empty where the slug gives the same one."""
        own = _own_address(self.section, self.slug, self.lang)
        return self.address if self.section == "posts" and self.address != own else ""

    def file(self, *, as_folder: bool) -> str:
        """Return the path of the text; a post with files beside it is a folder."""
        if self.section != "posts" or not (as_folder or self.lang or self.shares_folder):
            return f"{self.folder}.md"
        return f"{self.folder}/index{f'.{self.lang}' if self.lang else ''}.md"


def placed(found: Sequence[Found]) -> Mapping[str, Place]:
    """Return the place of each text by its path.  No two texts of a language have one slug, and no two one address.

    A translation has the slug of its original, which stands before it.
    """
    slugs = _Slugs()
    owners = {f"/{name}/" for name in _RESERVED} | {"/"} | set(_lists({one.lang for one in found if one.lang}))
    groups = Counter(one.group for one in found if one.group)
    places: dict[str, Place] = {}
    for one in found:
        slug = slugs.give(one)
        own = _own_address(one.section, slug, one.lang)
        old = _clean(one.url)
        address = old if one.section == "posts" and old and old not in owners else own
        owners.add(address)
        places[one.text.path] = Place(one.section, slug, address, (), one.lang, groups[one.group] > 1)
    return {one.text.path: _with_aliases(one, places[one.text.path], owners) for one in found}


def _own_address(section: str, slug: str, lang: str) -> str:
    """Return the address that the name of a text gives it."""
    folder = {"posts": "/posts", "pages": ""}.get(section, "/worklog")
    return f"{f'/{lang}' if lang else ''}{folder}/{slug}/"


def _lists(languages: Iterable[str]) -> Iterator[str]:
    """Yield the addresses of the lists in other languages."""
    for lang in languages:
        yield f"/{lang}/"
        yield from (f"/{lang}/{name}/" for name in ("posts", "tags", "categories"))


def _with_aliases(one: Found, place: Place, owners: set[str]) -> Place:
    wanted = [alias for url in (one.url, *one.aliases) if (alias := as_alias(url)) and alias not in owners]
    owners.update(wanted)
    return replace(place, aliases=tuple(dict.fromkeys(wanted)))


def _clean(url: str) -> str:
    """Return an old address as the address of a text here; empty where it cannot be one."""
    path = as_alias(url)
    return path if _FIT.fullmatch(path) else ""


def as_alias(url: str) -> str:
    """Return an old address, which may have spaces, as an alias; empty where no page can answer there."""
    path = re.sub(r"(?:^|(?<=/))index\.html?$", "", url.strip())
    path = f"/{path.strip('/')}" + ("" if re.search(r"\.html?$", path) else "/")
    return path if OLD_ADDRESS.fullmatch(path) and "/." not in path else ""


def is_home(url: str) -> bool:
    """Return whether an old address is that of the first page, where the new one has its own; also an empty address."""
    return url.strip().strip("/") in ("", "index.html", "index.htm")


@dataclass(slots=True)
class _Slugs:
    """The slugs that were given."""

    used: set[tuple[str, str]] = field(default_factory=set)
    """Sections with their slugs."""
    of_group: dict[tuple[str, str], str] = field(default_factory=dict)
    """The slug that a text and its translations share, by section and group."""
    languages: set[tuple[str, str, str]] = field(default_factory=set)
    """Sections with their slugs and languages."""

    def give(self, one: Found) -> str:
        """Return the slug of the original, or one that no other text has."""
        group = (one.section, one.group or one.text.path)
        slug = self.of_group.get(group, "") if one.section == "posts" else ""
        if not slug or (one.section, slug, one.lang) in self.languages:
            slug = next(name for name in _slugs(one) if (one.section, name) not in self.used)
        self.used.add((one.section, slug))
        self.of_group.setdefault(group, slug)
        self.languages.add((one.section, slug, one.lang))
        return slug


def _slugs(one: Found) -> Iterator[str]:
    """Yield the slugs that a text may have, the best first."""
    stem = re.sub(r"(?:^|/)(?:_?index)$", "", one.text.path.rpartition(".")[0])
    own = slug_of(one.slug) or slug_of(stem.rpartition("/")[2]) or slug_of(one.text.title) or "text"
    own = f"{own}-page" if one.section == "pages" and own in _RESERVED else own
    own = f"{own}-{one.lang.lower()}" if one.section == "pages" and one.lang else own
    longer = slug_of(stem.replace("/", " ")) or own
    return chain((own, longer), (f"{own}-{number}" for number in count(2)))
