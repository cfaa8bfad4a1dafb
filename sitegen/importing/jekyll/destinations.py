"""Choose for each document of a Jekyll site its section, slug and address, and the addresses that redirect to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count
from urllib.parse import unquote, urlsplit

from sitegen.diagnostics import Span
from sitegen.importing.jekyll.report import ImportReport
from sitegen.importing.jekyll.site import DocumentKind, JekyllDocument, JekyllSite, address_key, as_list, is_diary
from sitegen.model.urls import LISTS
from sitegen.write.scaffold import slug_of

RESERVED = frozenset(url.rstrip("/") for url in LISTS)
_NOT_IN_ADDRESS = re.compile(r"[^\w.+~/-]+")
_NEVER_IN_ALIAS = re.compile(r"[?#%\\\x00-\x1f\x7f]|\s/|/\s|\.\.")


class SiteSection(StrEnum):
    """The part of the new site that a document goes to."""

    POSTS = "posts"
    PAGES = "pages"
    WORKLOG = "worklog"


@dataclass(frozen=True, slots=True)
class Destination:
    """The section, slug, address and redirecting addresses of one document.  Addresses begin with a slash."""

    section: SiteSection
    slug: str
    address: str
    aliases: tuple[str, ...] = ()

    @property
    def permalink(self) -> str:
        """The address for the front matter; empty where the slug gives the same address."""
        return "" if self.section is not SiteSection.POSTS or self.address == f"/posts/{self.slug}/" else self.address


def destinations_of(site: JekyllSite) -> Mapping[str, Destination]:
    """Return the destinations by the path of the document.  An old address that cannot redirect is reported."""
    slugs: dict[tuple[SiteSection, str], None] = {}
    owners = {"/": "a list"} | {f"/{name}/": "a list" for name in RESERVED}
    destinations: dict[str, Destination] = {}
    for source in sorted(site.sources, key=lambda source: (source.kind is DocumentKind.PAGE, source.path)):
        section = _section(source)
        slug = _free(_slug(source, section), section, source, slugs)
        address = _address(source, section, slug)
        if section is SiteSection.POSTS and address in owners:
            address = f"/posts/{slug}/"
        owners.setdefault(address, source.path)
        destinations[source.path] = Destination(section, slug, address)
    return {
        path: _with_aliases(site.by_path[path], destination, owners, site.report)
        for path, destination in destinations.items()
    }


def redirect_addresses(source: JekyllDocument) -> Iterator[tuple[str, Span]]:
    """Yield each address in `redirect_from` with its place."""
    node = source.front.get("redirect_from")
    for text in as_list(node) if node else ():
        yield "/" + unquote(urlsplit(text).path).lstrip("/"), source.span_of("redirect_from")


def _section(source: JekyllDocument) -> SiteSection:
    if source.kind in (DocumentKind.POST, DocumentKind.DRAFT) or (source.kind is DocumentKind.DOCUMENT and source.date):
        return SiteSection.POSTS
    return SiteSection.WORKLOG if is_diary(source.body.text) else SiteSection.PAGES


def _slug(source: JekyllDocument, section: SiteSection) -> str:
    if section is SiteSection.POSTS:
        return slug_of(source.text("slug") or source.slug) or "post"
    key = slug_of(address_key(source.url).replace("/", " "))
    own = key or ("home" if source.slug == "index" else slug_of(source.slug)) or "page"
    return f"{own}-page" if own in RESERVED and section is SiteSection.PAGES else own


def _free(slug: str, section: SiteSection, source: JekyllDocument, taken: dict[tuple[SiteSection, str], None]) -> str:
    """Return the slug; with its day or a number where another document of the section has it already."""
    named = [slug, f"{slug}-{source.date:%Y-%m-%d}"] if source.date else [slug]
    free = next(name for name in chain(named, _numbered(slug)) if (section, name) not in taken)
    taken[section, free] = None
    return free


def _numbered(slug: str) -> Iterator[str]:
    return (f"{slug}-{number}" for number in count(2))


def _address(source: JekyllDocument, section: SiteSection, slug: str) -> str:
    """Return the old address, with hyphens for characters that no address has here."""
    if section is SiteSection.WORKLOG:
        return "/worklog/"
    if section is SiteSection.PAGES:
        return f"/{slug}/"
    clean = _NOT_IN_ADDRESS.sub("-", address_key(source.url))
    return f"/{clean}/" if clean else f"/posts/{slug}/"


def _with_aliases(
    source: JekyllDocument, destination: Destination, owners: dict[str, str], report: ImportReport
) -> Destination:
    """Return the destination with every old address that is not the new one."""
    wanted = [*_old_addresses(source), *redirect_addresses(source)]
    aliases = []
    for written, span in wanted:
        address = _as_alias(written)
        if address == destination.address or owners.get(address) == source.path:
            continue
        if _NEVER_IN_ALIAS.search(address):
            report.warn("SG607", f"the old address `{written}` cannot be kept", span, "nothing answers there now")
        elif address in owners:
            if address != "/":
                hint = f"this text is at {destination.address}"
                report.warn("SG607", f"the old address `{written}` leads to {owners[address]} already", span, hint)
        else:
            owners[address] = source.path
            aliases.append(address)
    return Destination(destination.section, destination.slug, destination.address, tuple(aliases))


def _old_addresses(source: JekyllDocument) -> Iterable[tuple[str, Span]]:
    span = source.span_of("permalink") if "permalink" in source.front else Span(source.path)
    return [] if source.kind is DocumentKind.DRAFT else [(source.url, span)]


def _as_alias(written: str) -> str:
    """Return the address in one form: `/a`, `/a/` and `/a/index.html` are the same, `/a.html` is a file."""
    path = re.sub(r"/index\.html?$", "/", written)
    return path if path.endswith((".html", ".htm", "/")) else f"{path}/"
