"""Documents of a Jekyll site → where each goes: its file, its address, and the addresses that lead to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count
from urllib.parse import unquote, urlsplit

from sitegen.diagnostics import Span
from sitegen.importing.jekyll.report import Report
from sitegen.importing.jekyll.site import JekyllSite, Kind, Source, address_key, as_list, is_diary
from sitegen.write.scaffold import slug_of

RESERVED = frozenset({"posts", "series", "kernels", "worklog", "exercises", "terms", "tags", "categories", "ceilings"})
_NOT_IN_ADDRESS = re.compile(r"[^\w.+~/-]+")
_NEVER_IN_ALIAS = re.compile(r"[?#%\\\x00-\x1f\x7f]|\s/|/\s|\.\.")


class Room(StrEnum):
    POSTS = "posts"
    PAGES = "pages"
    WORKLOG = "worklog"


@dataclass(frozen=True, slots=True)
class Place:
    """Of one document.  Addresses begin with a slash."""

    room: Room
    slug: str
    address: str
    aliases: tuple[str, ...] = ()

    @property
    def permalink(self) -> str:
        """Empty where the address is the one that the slug gives."""
        return "" if self.room is not Room.POSTS or self.address == f"/posts/{self.slug}/" else self.address


def places_of(site: JekyllSite) -> Mapping[str, Place]:
    """By the path of the document.  What a reader's bookmark may hold leads to a page, unless it is reported."""
    slugs: dict[tuple[Room, str], None] = {}
    owners = {"/": "a list"} | {f"/{name}/": "a list" for name in RESERVED}
    found: dict[str, Place] = {}
    for source in sorted(site.sources, key=lambda source: (source.kind is Kind.PAGE, source.path)):
        room = _room(source)
        slug = _free(_slug(source, room), room, source, slugs)
        address = _address(source, room, slug)
        if room is Room.POSTS and address in owners:
            address = f"/posts/{slug}/"
        owners.setdefault(address, source.path)
        found[source.path] = Place(room, slug, address)
    return {path: _with_aliases(site.by_path[path], place, owners, site.report) for path, place in found.items()}


def written_addresses(source: Source) -> Iterator[tuple[str, Span]]:
    """`redirect_from`, as addresses of the site."""
    node = source.front.get("redirect_from")
    for text in as_list(node) if node else ():
        yield "/" + unquote(urlsplit(text).path).lstrip("/"), source.span_of("redirect_from")


def _room(source: Source) -> Room:
    if source.kind in (Kind.POST, Kind.DRAFT) or (source.kind is Kind.DOCUMENT and source.date):
        return Room.POSTS
    return Room.WORKLOG if is_diary(source.body.text) else Room.PAGES


def _slug(source: Source, room: Room) -> str:
    if room is Room.POSTS:
        return slug_of(source.text("slug") or source.slug) or "post"
    key = slug_of(address_key(source.url).replace("/", " "))
    own = key or ("home" if source.slug == "index" else slug_of(source.slug)) or "page"
    return f"{own}-page" if own in RESERVED and room is Room.PAGES else own


def _free(slug: str, room: Room, source: Source, taken: dict[tuple[Room, str], None]) -> str:
    """`sum`, or with its day where another has that name."""
    named = [slug, f"{slug}-{source.date:%Y-%m-%d}"] if source.date else [slug]
    free = next(name for name in chain(named, _numbered(slug)) if (room, name) not in taken)
    taken[room, free] = None
    return free


def _numbered(slug: str) -> Iterator[str]:
    return (f"{slug}-{number}" for number in count(2))


def _address(source: Source, room: Room, slug: str) -> str:
    """The old one, as far as it can be an address here."""
    if room is Room.WORKLOG:
        return "/worklog/"
    if room is Room.PAGES:
        return f"/{slug}/"
    clean = _NOT_IN_ADDRESS.sub("-", address_key(source.url))
    return f"/{clean}/" if clean else f"/posts/{slug}/"


def _with_aliases(source: Source, place: Place, owners: dict[str, str], report: Report) -> Place:
    """Every address that led to the document and is not its own now."""
    wanted = [*_old(source), *written_addresses(source)]
    aliases = []
    for written, span in wanted:
        address = _as_alias(written)
        if address == place.address or owners.get(address) == source.path:
            continue
        if _NEVER_IN_ALIAS.search(address):
            report.warn("SG607", f"the old address `{written}` cannot be kept", span, "nothing answers there now")
        elif address in owners:
            if owners[address] != "a list":
                report.warn("SG607", f"the old address `{written}` leads to {owners[address]} already", span)
        else:
            owners[address] = source.path
            aliases.append(address)
    return Place(place.room, place.slug, place.address, tuple(aliases))


def _old(source: Source) -> Iterable[tuple[str, Span]]:
    span = source.span_of("permalink") if "permalink" in source.front else Span(source.path)
    return [] if source.kind is Kind.DRAFT else [(source.url, span)]


def _as_alias(written: str) -> str:
    """`/a`, `/a/` and `/a/index.html` are one address, `/a.html` is a file."""
    path = re.sub(r"/index\.html?$", "/", written)
    return path if path.endswith((".html", ".htm", "/")) else f"{path}/"
