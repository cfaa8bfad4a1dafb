"""One document while it is converted: where its links lead, which files it needs, what is to be said of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from sitegen.importing.jekyll.config import has_math
from sitegen.importing.jekyll.formulas import Formulas
from sitegen.importing.jekyll.inserts import Inserts
from sitegen.importing.jekyll.places import Place, Room, written_addresses
from sitegen.importing.jekyll.site import JekyllSite, Source, address_key
from sitegen.model.urls import is_external

_NOT_IN_NAME = re.compile(r"[^\w.+-]+")
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".tiff")


@dataclass(frozen=True, slots=True)
class Target:
    """What a link means here: `address` as it is written now; `file` where it is a file of the Jekyll site."""

    address: str
    file: str = ""
    known: bool = True
    """False: nothing of the imported site is there, and the address is the old one, in full."""


@dataclass(slots=True)
class Work:
    site: JekyllSite
    source: Source
    places: Mapping[str, Place]
    inserts: Inserts = field(default_factory=lambda: Inserts([]))
    assets: dict[str, str] = field(default_factory=dict)
    """File of the Jekyll site → its name beside the text."""
    notes: list[str] = field(default_factory=list)
    """Footnotes that stood within the text."""
    lists: dict[str, str] = field(default_factory=dict)
    """kramdown's named attribute lists."""
    formulas: Formulas = field(default_factory=Formulas)
    elsewhere: set[str] = field(default_factory=set)
    """Names of link definitions that lead to an image on another host."""
    keys: frozenset[str] = frozenset()
    """Of the works that the text may cite."""
    cites: bool = False
    lists_works: bool = False
    """Whether Jekyll made a list of what is cited, as is made here at the end of every text that cites."""

    @property
    def place(self) -> Place:
        return self.places[self.source.path]

    @property
    def has_math(self) -> bool:
        """Whether what stands between single dollar signs is a formula."""
        return self.site.dollars or has_math(self.source.yaml)

    def warn(self, code: str, message: str, words: str, line: int, hint: str = "") -> None:
        report = self.site.report
        report.warn(code, message, report.span_of(words, self.source.path, line), hint)

    def target(self, written: str) -> Target:
        """Of a link, an image or an address in a tag."""
        plain = self._without_host(written)
        if plain is None or is_external(plain) or plain.startswith("#"):
            return Target(written)
        split = urlsplit(plain)
        tail = (f"?{split.query}" if split.query else "") + (f"#{split.fragment}" if split.fragment else "")
        for path in self._candidates(unquote(split.path)):
            if address := self._address(path):
                return Target(address + tail)
            if path in self.site.files and not posixpath.basename(path).startswith("_"):
                return Target(self.asset(path), path)
        return Target(self._in_full(plain), known=False)

    def asset(self, path: str) -> str:
        """How the text names a file of the Jekyll site, which is copied beside it."""
        if path not in self.assets:
            self.assets[path] = self._free_name(path)
        name = quote(self.assets[path], safe="/+")
        return name if self.place.room is Room.POSTS else f"{self.place.slug}/{name}"

    def image(self, written: str) -> str:
        """How the text names an image; empty where there is no such file, and the caller says so."""
        target = self.target(written)
        return target.address if target.file.lower().endswith(IMAGES) else ""

    def _without_host(self, written: str) -> str | None:
        """The path of an address of the Jekyll site itself; None of any other host's."""
        url = self.site.config.text("url").rstrip("/")
        if url and (written == url or written.startswith((f"{url}/", f"{url}#"))):
            written = written.removeprefix(url) or "/"
        base = self.site.config.baseurl
        if base and (written == base or written.startswith((f"{base}/", f"{base}#"))):
            written = "/" + written.removeprefix(base).lstrip("/")
        return None if is_external(written) else written

    def _candidates(self, path: str) -> list[str]:
        """Paths from the root that may be meant: by the address of the page, then by the place of its file."""
        if path.startswith("/"):
            return [path.strip("/")]
        here = self.source.url if self.source.url.endswith("/") else posixpath.dirname(self.source.url) + "/"
        by_address = posixpath.normpath(posixpath.join(here, path)).strip("/")
        by_file = posixpath.normpath(posixpath.join(posixpath.dirname(self.source.path), path))
        return [by_address, by_file, posixpath.normpath(path)]

    def _address(self, path: str) -> str:
        """Where a document stands now, by its old address or its file."""
        source = self.site.by_path.get(path) or self.site.by_url.get(address_key(path))
        if source is None:
            source = _redirects(self.site).get(address_key(path))
        if source is None:
            return "/" if not address_key(path) else ""
        return self.places[source.path].address if source.path in self.places else ""

    def _in_full(self, path: str) -> str:
        base = self.site.config.base_url or "https://example.org/"
        here = self.source.url.lstrip("/")
        folder = here if here.endswith("/") or not here else posixpath.dirname(here) + "/"
        inner = path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))
        return base + inner.removeprefix("../")

    def _free_name(self, path: str) -> str:
        name = _NOT_IN_NAME.sub("-", posixpath.basename(path))
        if name in self.assets.values():
            name = _NOT_IN_NAME.sub("-", path)
        return name


def _redirects(site: JekyllSite) -> Mapping[str, Source]:
    return {address_key(address): source for source in site.sources for address, _ in written_addresses(source)}
