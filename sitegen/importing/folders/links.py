"""Lead the links and images of a text to their new addresses, and note the files that they need."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from sitegen.importing.folders.headings import heading_ids
from sitegen.importing.folders.placing import Found, Place
from sitegen.importing.mending.places import LINK
from sitegen.markup.collected import slug
from sitegen.model.urls import is_external

_HTML = re.compile(
    r"(?P<before><(?:a|img|source|video|audio)\b[^<>]*?\s(?:href|src)\s*=\s*)(?P<q>[\"'])(?P<target>[^\"']*)(?P=q)"
)
_DEFINITION = re.compile(r"^(?P<before>[ \t]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]*)<?(?P<target>[^\s>]+)>?", re.MULTILINE)
_NOT_IN_NAME = re.compile(r"[^\w.+-]+")
_NUMBERED = re.compile(r"(?:fig|tbl|lst|eq|sec|fn)[-:][\w-]+")
TEXTS = (".md", ".markdown", ".qmd", ".ipynb", ".rst", ".html", ".htm", ".Rmd", ".mdx")


@dataclass(frozen=True, slots=True)
class LinkBook:
    """The texts and files of the old site to which its links may lead."""

    places: Mapping[str, Place]
    """The new place of each text by its path."""
    by_url: Mapping[str, str]
    """The path of each text by its old address without slashes at its ends."""
    files: frozenset[str]
    roots: Sequence[str] = ("",)
    """The folders in which an address that begins with a slash is a file, such as `static/`."""
    base_url: str = ""
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    """The names of the files in each folder of the new site, by their paths: translations share a folder."""
    bodies: Mapping[str, str] = field(default_factory=dict)
    """The body of each text by its path."""
    anchors: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The ids of the headings of each text that was asked for, by the ids on the old site."""

    def anchor(self, path: str, written: str) -> str:
        """Return the id that an anchor of a text has here."""
        if path not in self.anchors:
            self.anchors[path] = heading_ids(self.bodies.get(path, ""))
        plain = unquote(written)
        if found := self.anchors[path].get(plain) or self.anchors[path].get(plain.lower()):
            return found
        return plain if _NUMBERED.fullmatch(plain) else slug(plain) or plain


@dataclass(slots=True)
class TextLinks:
    """The links of one text, and the files that it needs beside it."""

    book: LinkBook
    found: Found
    assets: dict[str, str] = field(default_factory=dict)
    """The name beside the text of each file, by its path in the folder."""
    remote_images: int = 0
    dead: int = 0

    @property
    def place(self) -> Place:
        return self.book.places[self.found.text.path]

    def followed(self, text: str) -> str:
        """Return a text without code in which every link leads to its new address."""
        text = LINK.sub(self._link, text)
        text = _HTML.sub(lambda match: f'{match["before"]}"{self._attribute(match["target"])}"', text)
        return _DEFINITION.sub(lambda match: match["before"] + self.target(match["target"]), text)

    def _attribute(self, written: str) -> str:
        return self.target(written).replace('"', "&quot;")

    def target(self, written: str) -> str:
        """Return the new address of a target; one that leads nowhere stays as it is."""
        plain = written.removeprefix(self.book.base_url.rstrip("/")) if self.book.base_url else written
        plain = (plain or "/") if plain != written else written
        if not plain or is_external(plain):
            return written
        split = urlsplit(plain)
        if not split.path:
            return f"#{self.book.anchor(self.found.text.path, split.fragment)}" if split.fragment else written
        for path in self._candidates(unquote(split.path)):
            if (text := self._text(path)) is not None:
                anchor = f"#{self.book.anchor(text, split.fragment)}" if split.fragment else ""
                return self.book.places[text].address + anchor
            if path in self.book.files and not path.endswith(TEXTS[:4]):
                return self.asset(path)
        if split.path == "/":
            return written
        self.dead += 1
        return written

    def asset(self, path: str) -> str:
        """Return the address of a file, which is copied beside the text."""
        if path not in self.assets:
            names = self.book.names.setdefault(self.place.folder, {})
            name = _NOT_IN_NAME.sub("-", posixpath.basename(path)).lstrip("-.") or "file"
            names.setdefault(path, name if name not in names.values() else _NOT_IN_NAME.sub("-", path))
            self.assets[path] = names[path]
        name = quote(self.assets[path], safe="/+")
        return name if self.place.section == "posts" else f"{self.place.slug}/{name}"

    def _link(self, match: re.Match[str]) -> str:
        written = match["target"].strip("<>").strip()
        words = LINK.sub(self._within_link, match["words"]) if "](" in match["words"] else match["words"]
        if match["image"] and is_external(written):
            self.remote_images += 1
            return f"[{words or 'an image'}]({written})"
        target = self.target(written)
        target = f"<{target}>" if re.search(r"[\s()]", target) else target
        return f"{match['image']}[{words}]({target}{match['title'] or ''}){match['attributes'] or ''}"

    def _within_link(self, match: re.Match[str]) -> str:
        """Return a link or an image within the words of a link; of an image of another host the words alone."""
        if match["image"] and is_external(match["target"].strip("<>").strip()):
            self.remote_images += 1
            return match["words"] or "an image"
        return self._link(match)

    def _candidates(self, path: str) -> list[str]:
        if path.startswith("/"):
            return [f"{root}{path.strip('/')}" for root in self.book.roots]
        here, url = posixpath.dirname(self.found.text.path), self.found.url
        by_file = posixpath.normpath(posixpath.join(here, path))
        by_url = posixpath.normpath(posixpath.join(url if url.endswith("/") else posixpath.dirname(url), path)).strip(
            "/"
        )
        return [by_file, by_url, *(f"{root}{by_url}" for root in self.book.roots)]

    def _text(self, path: str) -> str | None:
        """Return the path of the text that a path or an old address means."""
        bare = re.sub(r"(?:^|/)index\.html?$|\.html?$", "", path).strip("/")
        names = [path, *(f"{path}{suffix}" for suffix in TEXTS[:4]), *(f"{bare}{suffix}" for suffix in TEXTS[:4])]
        names += [f"{bare}/index{suffix}" for suffix in TEXTS[:4]]
        found = next((name for name in names if name in self.book.places), None)
        return found or next(
            (self.book.by_url[key] for key in (path.strip("/"), bare) if key in self.book.by_url), None
        )
