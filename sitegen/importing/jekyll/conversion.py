"""The state of the conversion of one document: the targets of its links, the files it needs, its diagnostics."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from sitegen import inside
from sitegen.importing.included import IncludedSoFar
from sitegen.importing.jekyll.config import has_math
from sitegen.importing.jekyll.definitions import Definition
from sitegen.importing.jekyll.destinations import Destination, SiteSection, redirect_addresses
from sitegen.importing.jekyll.formulas import Formulas
from sitegen.importing.jekyll.inserts import Inserts
from sitegen.importing.jekyll.site import JekyllDocument, JekyllSite, address_key
from sitegen.model.urls import FEED, LISTS, is_external
from sitegen.read.linked_files import START, fault_of_linked

_NOT_IN_NAME = re.compile(r"[^\w.+-]+")
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".tiff")


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The new address of a link, and the file of the Jekyll site that it shows, if any."""

    address: str
    file: str = ""
    known: bool = True
    """False if nothing of the imported site has the address; it is the old one then, in full."""


@dataclass(slots=True)
class Conversion:
    """A document of a Jekyll site, and what its conversion has collected so far."""

    site: JekyllSite
    source: JekyllDocument
    destinations: Mapping[str, Destination]
    inserts: Inserts = field(default_factory=lambda: Inserts([]))
    assets: dict[str, str] = field(default_factory=dict)
    """The name beside the text of each file that is copied from the Jekyll site, by its path there."""
    notes: list[str] = field(default_factory=list)
    """The definitions of footnotes that stood within the text."""
    lists: dict[str, str] = field(default_factory=dict)
    """kramdown's named attribute lists, by name."""
    formulas: Formulas = field(default_factory=Formulas)
    definitions: dict[str, Definition] = field(default_factory=dict)
    """The link definitions of the files that the text includes, by `key_of` their labels."""
    elsewhere: set[str] = field(default_factory=set)
    """The names of link definitions whose image is on another host."""
    keys: frozenset[str] = frozenset()
    """The keys of the works that the text may cite."""
    cites: bool = False
    """True if the text cites a work."""
    includes_beside: bool = False
    """True if a file was included from the folder of the text, which other folders need not have."""
    included_so_far: IncludedSoFar = field(default_factory=IncludedSoFar)
    numbers: Sequence[int] = ()
    """The line of the file for each line of the HTML that is being converted, where Liquid made lines of it."""
    lists_works: bool = False
    """True if the text asked Jekyll for a list of cited works; sitegen appends one to every text that cites."""

    @property
    def destination(self) -> Destination:
        return self.destinations[self.source.path]

    @property
    def has_math(self) -> bool:
        """True if text between single dollar signs is a formula."""
        return self.site.dollars or has_math(self.source.yaml)

    def warn(self, code: str, message: str, words: str, line: int, hint: str = "") -> None:
        report, row = self.site.report, line - self.numbers[0] if self.numbers else 0
        line = self.numbers[row] if 0 <= row < len(self.numbers) else line
        report.warn(code, message, report.span_of(words, self.source.path, line), hint)

    def target(self, written: str) -> LinkTarget:
        """Return the target of a link, an image or an address in a tag."""
        plain = self._without_host(written)
        if plain is None or is_external(plain) or plain.startswith("#"):
            return LinkTarget(written)
        split = urlsplit(plain)
        tail = (f"?{split.query}" if split.query else "") + (f"#{split.fragment}" if split.fragment else "")
        candidates = self._candidates(unquote(split.path))
        for path in candidates:
            if address := self._address(path):
                return LinkTarget(address + tail)
            if path in self.site.files and self._may_be_published(path):
                return LinkTarget(self.asset(path), path)
        if made := self._made_here(candidates[0]):
            return LinkTarget(made)
        return LinkTarget(self._in_full(plain), known=False)

    def asset(self, path: str) -> str:
        """Return the address in the text of a file of the Jekyll site; the file is copied beside the text."""
        if path not in self.assets:
            self.assets[path] = self._free_name(path)
        name = quote(self.assets[path], safe="/+")
        return name if self.destination.section is SiteSection.POSTS else f"{self.destination.slug}/{name}"

    def image(self, written: str) -> str:
        """Return the address in the text of an image; empty where there is no such file, which the caller reports."""
        target = self.target(written)
        return target.address if target.file.lower().endswith(IMAGES) else ""

    def _may_be_published(self, path: str) -> bool:
        """Return whether a text of the new site may show a file or link to it, as to no file of HTML or XML."""
        if posixpath.basename(path).startswith("_"):
            return False
        if path.lower().endswith(IMAGES):
            return True
        return fault_of_linked(path, inside.read_start(self.site.folder, path, START)) is None

    def _without_host(self, written: str) -> str | None:
        """Return the path of an address of the Jekyll site itself; None for an address on another host."""
        _, _, host = self.site.config.text("url").rstrip("/").rpartition("://")
        own = re.match(rf"(?:https?:)?//{re.escape(host)}(?=[/#]|$)", written) if host else None
        if own:  # also by the other scheme, and without one: a site that moved to https still has such links
            written = written[own.end() :] or "/"
        base = self.site.config.baseurl
        if base and (written == base or written.startswith((f"{base}/", f"{base}#"))):
            written = "/" + written.removeprefix(base).lstrip("/")
        return None if is_external(written) else written

    def _candidates(self, path: str) -> list[str]:
        """Return the paths from the root that may be meant: relative to the page's address, its file, or the root."""
        if path.startswith("/"):
            return [path.strip("/")]
        here = self.source.url if self.source.url.endswith("/") else posixpath.dirname(self.source.url) + "/"
        by_address = posixpath.normpath(posixpath.join(here, path)).strip("/")
        by_file = posixpath.normpath(posixpath.join(posixpath.dirname(self.source.path), path))
        return [by_address, by_file, posixpath.normpath(path)]

    def _address(self, path: str) -> str:
        """Return the new address of a document by its old address or its file; empty where there is none."""
        source = self.site.by_path.get(path) or self.site.by_url.get(address_key(path))
        if source is None:
            source = _redirects(self.site).get(address_key(path))
        if source is None:
            return "/" if not address_key(path) else ""
        return self.destinations[source.path].address if source.path in self.destinations else ""

    def _made_here(self, path: str) -> str:
        """Return the address of the feed or the list that sitegen makes at a path from the root; empty for others."""
        if path == FEED or path in self.site.feeds:
            return f"/{FEED}"
        key = address_key(path)
        return f"/{key}/" if f"{key}/" in LISTS else ""

    def _in_full(self, path: str) -> str:
        base = self.site.config.base_url or "https://example.org/"
        here = self.source.url.lstrip("/")
        folder = here if here.endswith("/") or not here else posixpath.dirname(here) + "/"
        inner = path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))
        return base + inner.removeprefix("../").lstrip("/")

    def _free_name(self, path: str) -> str:
        name = _NOT_IN_NAME.sub("-", posixpath.basename(path))
        if name in self.assets.values():
            name = _NOT_IN_NAME.sub("-", path)
        return name


def _redirects(site: JekyllSite) -> Mapping[str, JekyllDocument]:
    return {address_key(address): source for source in site.sources for address, _ in redirect_addresses(source)}
