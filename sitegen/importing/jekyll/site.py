"""The folder of a Jekyll site → its configuration, its documents with their old addresses, the paths of its files."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from sitegen import inside
from sitegen.diagnostics import Span
from sitegen.importing.jekyll.config import FILES, Config, has_math, read_config
from sitegen.importing.jekyll.dates import in_zone, read_date
from sitegen.importing.jekyll.permalinks import (
    UnknownPlaceholder,
    filled,
    slugified,
    suffixed,
    values_of_date,
    values_of_document,
)
from sitegen.importing.jekyll.report import Report
from sitegen.model.site import Markdown
from sitegen.read.source import decode
from sitegen.read.worklog_days import find_days
from sitegen.read.yaml_nodes import Node, parse_yaml

FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?\n?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DATED = re.compile(r"(\d{2,4}-\d{1,2}-\d{1,2})-(.*)")
_NEVER = ("_site", "node_modules", "vendor", ".sitegen")
_TEMPLATES = re.compile(r"_(?:layouts|includes)/.*\.(?:html|liquid|md)|assets/js/.*\.js")
_HTML = frozenset({"html", "htm", "xhtml"})


class Kind(StrEnum):
    POST = "posts"
    DRAFT = "drafts"
    PAGE = "pages"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Source:
    """A text of the Jekyll site."""

    path: str
    """From the Jekyll folder, with forward slashes."""
    kind: Kind
    collection: str
    front: Mapping[str, Node]
    """With what `defaults:` give."""
    yaml: str
    yaml_line: int
    body: Markdown
    slug: str
    """Of the file's name, without its date."""
    date: dt.date | dt.datetime | None
    categories: tuple[str, ...]
    url: str
    """Where it stood, from the site's root, without the baseurl: `/2024/01/05/sum.html`."""

    def text(self, key: str) -> str:
        node = self.front.get(key)
        return " ".join(node.text.split()) if node and isinstance(node.value, str | int | float) else ""

    @property
    def title(self) -> str:
        return self.text("title") or " ".join(word.capitalize() for word in self.slug.split("-"))

    @property
    def is_html(self) -> bool:
        return self.path.rpartition(".")[2] in _HTML

    def span_of(self, key: str) -> Span:
        node = self.front.get(key)
        return node.at if node else Span(self.path)


@dataclass(frozen=True)
class JekyllSite:
    folder: Path
    config: Config
    sources: tuple[Source, ...]
    files: frozenset[str]
    dollars: bool
    """Whether `$x$` is a formula on this site."""
    report: Report = field(default_factory=Report)

    @cached_property
    def by_path(self) -> Mapping[str, Source]:
        return {source.path: source for source in self.sources}

    @cached_property
    def by_url(self) -> Mapping[str, Source]:
        return {address_key(source.url): source for source in self.sources}

    def read(self, path: str) -> str:
        """A text of the site; its diagnostics find their frames in it from now on."""
        text, _ = decode(inside.read_bytes(self.folder, path), path)
        self.report.texts.setdefault(path, text)
        return text


def address_key(url: str) -> str:
    """What `/a`, `/a/`, `/a.html` and `/a/index.html` have in common: servers answer all alike."""
    return re.sub(r"(?:^|/)index\.html?$|\.html?$", "", url.strip("/")).strip("/")


def read_site(folder: Path, report: Report) -> JekyllSite:
    config = Config()
    for name in FILES:
        if inside.is_file(folder, name):
            report.texts[name], mistakes = decode(inside.read_bytes(folder, name), name)
            report.found += mistakes
            config = read_config(report.texts[name], name, report)
            break
    paths = frozenset(_paths(folder, config, report))
    reader = _Reader(folder, config, report)
    sources = tuple(source for path in sorted(paths) if (source := reader.source(path)))
    dollars = has_math(report.texts.get(config.path, "")) or any(
        has_math(inside.read_bytes(folder, path).decode(errors="replace"))
        for path in sorted(paths)
        if _TEMPLATES.fullmatch(path)
    )
    return JekyllSite(folder, config, sources, paths, dollars, report)


def _paths(folder: Path, config: Config, report: Report) -> Iterator[str]:
    """All files that Jekyll may read, also those in folders with an underscore; what cannot be read is reported."""
    excluded = [str(name).strip("/") for name in config.plain("exclude") or ()]
    for path, _ in inside.entries_below(folder, skips=lambda path: _skipped(path, excluded)):
        if _skipped(path, excluded):
            continue
        try:
            inside.resolved(folder, path)
        except OSError as error:
            why = f"the file cannot be read: {error.strerror}"
            report.error("SG606", why, Span(path), "put the file itself in its place, or exclude it")
        else:
            yield path


def _skipped(path: str, excluded: list[str]) -> bool:
    name = path.rpartition("/")[2]
    if name.startswith((".", "#", "~")) or name.endswith("~") or path in _NEVER:
        return True
    return any(path == given or fnmatchcase(path, given) for given in excluded)


@dataclass(frozen=True, slots=True)
class _Reader:
    folder: Path
    config: Config
    report: Report

    def source(self, path: str) -> Source | None:
        """The document that a file is, or None: a template, an image, a file without front matter."""
        suffix = path.rpartition(".")[2]
        place = self.place(path)
        if place is None or suffix not in self.config.markdown_suffixes | _HTML:
            return None
        kind, collection, within = place
        stem = within.rpartition("/")[2].rpartition(".")[0]
        dated = _DATED.fullmatch(stem)
        if kind is Kind.POST and not dated:
            hint = "Jekyll publishes only posts named as `2024-01-05-title.md`"
            self.report.warn("SG608", "no date in the name: this file is left out", Span(path), hint)
            return None
        text, mistakes = decode(inside.read_bytes(self.folder, path), path)
        matter = FRONT_MATTER.match(text)
        if matter is None and kind is not Kind.POST and not is_diary(text):
            return None
        self.report.texts[path] = text
        self.report.found += mistakes
        own = self.front(matter["yaml"] if matter else "", path)
        if own is None:
            return None
        front = {**self.config.defaults(path, kind if kind is not Kind.DOCUMENT else collection), **own}
        end = matter.end() if matter else 0
        body = Markdown(text[end:], path, text.count("\n", 0, end) + 1)
        slug = (dated[2] if dated else stem).rstrip(".")
        date = self.date(path, kind, front, dated[1] if dated else "")
        categories = _categories(path, kind, front)
        url = self.url(path, kind, collection, within, front, slug, date, categories)
        yaml = matter["yaml"] if matter else ""
        return Source(path, kind, collection, front, yaml, 2, body, slug, date, categories, url)

    def place(self, path: str) -> tuple[Kind, str, str] | None:
        """Kind, collection, and the path within the collection's folder."""
        root = self.config.text("collections_dir").strip("/")
        inner = path.removeprefix(f"{root}/") if root else path
        parts = inner.split("/")
        for special, kind in (("_posts", Kind.POST), ("_drafts", Kind.DRAFT)):
            if special in parts[:-1] and not any(part.startswith("_") for part in parts[: parts.index(special)]):
                return kind, "posts", "/".join(parts[parts.index(special) + 1 :])
        for label, settings in self.config.collections.items():
            if inner.startswith(f"_{label}/"):
                return (Kind.DOCUMENT, label, inner.removeprefix(f"_{label}/")) if settings.get("output") else None
        included = [str(name).strip("/") for name in self.config.plain("include") or ()]
        hidden = [part for part in path.split("/") if part.startswith("_")]
        return None if any(part not in included for part in hidden) else (Kind.PAGE, "pages", path)

    def front(self, yaml: str, path: str) -> Mapping[str, Node] | None:
        node, mistakes = parse_yaml(yaml, path, first_line=2)
        self.report.found += mistakes
        if node is None:
            return None
        return node.value if isinstance(node.value, Mapping) else {}

    def date(self, path: str, kind: Kind, front: Mapping[str, Node], named: str) -> dt.date | dt.datetime | None:
        """Of the front matter, else of the name, else, of a draft, when the file was changed: as Jekyll has it."""
        node = front.get("date")
        if node and node.text:
            if (found := read_date(node.text, self.config.zone)) is not None:
                return found
            self.report.warn("SG608", f"`{node.text}` is no date", node.span, "write `2024-01-05`")
        if named and (found := read_date(named, self.config.zone)) is not None:
            return found
        if kind is Kind.DRAFT:
            return dt.datetime.fromtimestamp((self.folder / path).stat().st_mtime, self.config.zone).date()
        return None

    def url(
        self,
        path: str,
        kind: Kind,
        collection: str,
        inside: str,
        front: Mapping[str, Node],
        slug: str,
        date: dt.date | dt.datetime | None,
        categories: tuple[str, ...],
    ) -> str:
        given = front.get("permalink")
        ignored = given is None or (kind is Kind.PAGE and given.span.path != path)  # a default that Jekyll ignores
        own = given.text.strip() if given and not ignored else ""
        if kind is Kind.PAGE:
            return self.page_url(path, own)
        chosen = front["slug"].text if "slug" in front else slug
        stem = inside.rpartition("/")[2].rpartition(".")[0]
        values = values_of_document(stem, chosen, inside.rpartition(".")[0], collection, categories)
        values |= values_of_date(in_zone(date, self.config.zone)) if date else {}
        try:
            return filled(own or self.config.template(collection), values)
        except UnknownPlaceholder as mistake:
            span = given.span if own and given else Span(path)
            self.report.warn("SG607", f"`:{mistake}` is nothing of this document", span, "its old address is unknown")
            return f"/{collection}/{slugified(slug)}/"

    def page_url(self, path: str, own: str) -> str:
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0].rstrip(".")
        template = "/:path/" if stem == "index" else suffixed("/:path/:basename", self.config.style)
        values = {"path": folder, "basename": stem, "title": stem, "output_ext": ".html"}
        return filled(own or template, values)


def is_diary(text: str) -> bool:
    """A page of days is a worklog, also where its front matter is commented out and Jekyll leaves it alone."""
    return sum(line.date is not None for line in find_days(text).lines) > 1


def _categories(path: str, kind: Kind, front: Mapping[str, Node]) -> tuple[str, ...]:
    """Of the folders above `_posts`, then of `categories`, then of `category`."""
    special = "_drafts" if kind is Kind.DRAFT else "_posts"
    folders = path.partition(f"{special}/")[0].strip("/").split("/") if kind in (Kind.POST, Kind.DRAFT) else []
    listed = words_of(front.get("categories"))
    single = front.get("category")
    return tuple(dict.fromkeys([*filter(None, folders), *listed, *(as_list(single) if single else ())]))


def words_of(node: Node | None) -> list[str]:
    """`a b` is two words, a list its items."""
    if node is None:
        return []
    return node.text.split() if isinstance(node.value, str) else as_list(node)


def as_list(node: Node) -> list[str]:
    items: Any = node.value if isinstance(node.value, tuple) else (node,)
    return [item.text.strip() for item in items if item.text.strip()]
