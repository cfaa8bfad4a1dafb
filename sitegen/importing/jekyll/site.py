"""Read the folder of a Jekyll site: its configuration, its documents with their old addresses, its files' paths."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from sitegen import inside
from sitegen.diagnostics import Severity, Span
from sitegen.importing.jekyll.anchors import without_anchors
from sitegen.importing.jekyll.config import FILES, Config, has_math, read_config
from sitegen.importing.jekyll.dates import in_zone, read_date
from sitegen.importing.jekyll.definitions import Definition
from sitegen.importing.jekyll.feeds import feeds_of
from sitegen.importing.jekyll.permalinks import (
    UnknownPlaceholder,
    fill_template,
    slugify,
    values_of_date,
    values_of_document,
    with_ending,
)
from sitegen.importing.jekyll.report import ImportReport
from sitegen.model.site import Markdown
from sitegen.read.source import decode
from sitegen.read.worklog_days import find_days
from sitegen.read.yaml_nodes import Node, parse_yaml

FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?\n?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DATED = re.compile(r"(\d{2,4}-\d{1,2}-\d{1,2})-(.*)")
_NEVER = ("_site", "node_modules", "vendor", ".sitegen")
_TEMPLATES = re.compile(r"_(?:layouts|includes)/.*\.(?:html|liquid|md)|assets/js/.*\.js")
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?P<value>\s.*)?")
_HTML = frozenset({"html", "htm", "xhtml"})


class DocumentKind(StrEnum):
    """The part of the Jekyll site that a document is in."""

    POST = "posts"
    DRAFT = "drafts"
    PAGE = "pages"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class JekyllDocument:
    """A post, draft, page or other text of the Jekyll site."""

    path: str
    """The path from the Jekyll folder, with forward slashes."""
    kind: DocumentKind
    collection: str
    front: Mapping[str, Node]
    """The front matter by key, with the values that `defaults:` give."""
    yaml: str
    """The front matter as it was written."""
    yaml_line: int
    """The line of the file on which `yaml` begins."""
    body: Markdown
    slug: str
    """The file's name without its date and its suffix."""
    date: dt.date | dt.datetime | None
    categories: tuple[str, ...]
    url: str
    """The old address from the site's root, without the baseurl: `/2024/01/05/sum.html`."""

    def text(self, key: str) -> str:
        """Return the scalar of a key on one line; empty where there is none."""
        node = self.front.get(key)
        return " ".join(node.text.split()) if node and isinstance(node.value, str | int | float) else ""

    @property
    def title(self) -> str:
        return self.text("title") or " ".join(word.capitalize() for word in self.slug.split("-"))

    @property
    def is_html(self) -> bool:
        return self.path.rpartition(".")[2] in _HTML

    def span_of(self, key: str) -> Span:
        """Return the place of a key in the front matter; the file where the key is not there."""
        node = self.front.get(key)
        return node.at if node else Span(self.path)


@dataclass(frozen=True, slots=True)
class SharedInclude:
    """An included file as each text gets it: its text, its link definitions, and the variables that it sets."""

    text: str
    definitions: Mapping[str, Definition]
    variables: Mapping[str, Any]


@dataclass(frozen=True)
class JekyllSite:
    """The configuration, the documents and the files of a Jekyll site."""

    folder: Path
    config: Config
    sources: tuple[JekyllDocument, ...]
    files: frozenset[str]
    """The paths of all files that Jekyll may read, from the Jekyll folder."""
    dollars: bool
    """True if `$x$` is a formula on this site."""
    feeds: frozenset[str] = frozenset()
    """The paths of the feeds that Liquid makes."""
    report: ImportReport = field(default_factory=ImportReport)
    variables: dict[str, Any] = field(default_factory=dict)
    """The variable `site` of Liquid, once a text has asked for it."""
    shared: dict[str, SharedInclude | None] = field(default_factory=dict)
    """The included files that are the same in each text, by path; None for others that were tried."""

    @cached_property
    def by_path(self) -> Mapping[str, JekyllDocument]:
        return {source.path: source for source in self.sources}

    @cached_property
    def by_url(self) -> Mapping[str, JekyllDocument]:
        return {address_key(source.url): source for source in self.sources}

    def read(self, path: str) -> str:
        """Return a text of the site, and keep it for the frames of diagnostics and for the next document."""
        if path not in self.report.texts:
            self.report.texts[path], _ = decode(inside.read_bytes(self.folder, path), path)
        return self.report.texts[path]


def address_key(url: str) -> str:
    """Return the part that `/a`, `/a/`, `/a.html` and `/a/index.html` share: servers answer all of them alike."""
    return re.sub(r"(?:^|/)index\.html?$|\.html?$", "", url.strip("/")).strip("/")


def read_site(folder: Path, report: ImportReport) -> JekyllSite:
    """Return the site in a folder; its mistakes go to `report`."""
    config = Config()
    for name in FILES:
        if inside.is_file(folder, name):
            report.texts[name], mistakes = decode(inside.read_bytes(folder, name), name)
            report.diagnostics += mistakes
            config = read_config(report.texts[name], name, report)
            break
    paths = frozenset(_paths(folder, config, report))
    reader = _DocumentReader(folder, config, report)
    sources = tuple(document for path in sorted(paths) if (document := reader.document(path)))
    dollars = has_math(report.texts.get(config.path, "")) or any(
        has_math(inside.read_bytes(folder, path).decode(errors="replace"))
        for path in sorted(paths)
        if _TEMPLATES.fullmatch(path)
    )
    return JekyllSite(folder, config, sources, paths, dollars, feeds_of(folder, paths, report), report)


def _paths(folder: Path, config: Config, report: ImportReport) -> Iterator[str]:
    """Yield the path of every file that Jekyll may read, also in folders with an underscore; report the unreadable."""
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
class _Location:
    """The place of a document in the folders of a Jekyll site."""

    path: str
    """The path from the Jekyll folder."""
    kind: DocumentKind
    collection: str
    inner: str
    """The path within the collection's folder."""

    @property
    def stem(self) -> str:
        """The file's name without its suffix."""
        return self.inner.rpartition("/")[2].rpartition(".")[0]

    @property
    def dated(self) -> re.Match[str] | None:
        """The date and the rest of a file's name such as `2024-01-05-title.md`."""
        return _DATED.fullmatch(self.stem)


@dataclass(frozen=True, slots=True)
class _DocumentReader:
    folder: Path
    config: Config
    report: ImportReport

    def document(self, path: str) -> JekyllDocument | None:
        """Return the document in a file, or None: a template, an image, a file without front matter."""
        location = self.location(path)
        if location is None or path.rpartition(".")[2] not in self.config.markdown_suffixes | _HTML:
            return None
        if location.kind is DocumentKind.POST and not location.dated:
            hint = "Jekyll publishes only posts named as `2024-01-05-title.md`"
            self.report.warn("SG608", "no date in the name: this file is left out", Span(path), hint)
            return None
        text, mistakes = decode(inside.read_bytes(self.folder, path), path)
        matter = FRONT_MATTER.match(text)
        if matter is None and location.kind is not DocumentKind.POST and not is_diary(text):
            return None
        self.report.texts[path] = text
        self.report.diagnostics += mistakes
        yaml, end = (matter["yaml"], matter.end()) if matter else ("", 0)
        front = self.front_matter(yaml, location)
        return self.assembled(location, front, yaml, Markdown(text[end:], path, text.count("\n", 0, end) + 1))

    def assembled(self, location: _Location, front: Mapping[str, Node], yaml: str, body: Markdown) -> JekyllDocument:
        """Return the document with its slug, date, categories and old address."""
        path, kind, dated = location.path, location.kind, location.dated
        slug = (dated[2] if dated else location.stem).rstrip(".")
        date = self.date(path, kind, front, dated[1] if dated else "")
        categories = _categories(self.config.inner(path), kind, front)
        document = JekyllDocument(path, kind, location.collection, front, yaml, 2, body, slug, date, categories, url="")
        return replace(document, url=self.url(document, location))

    def location(self, path: str) -> _Location | None:
        """Return the place of a file among Jekyll's folders; None where Jekyll publishes nothing from it."""
        inner = self.config.inner(path)
        parts = inner.split("/")
        for special, kind in (("_posts", DocumentKind.POST), ("_drafts", DocumentKind.DRAFT)):
            if special in parts[:-1] and not any(part.startswith("_") for part in parts[: parts.index(special)]):
                return _Location(path, kind, "posts", "/".join(parts[parts.index(special) + 1 :]))
        for label, settings in self.config.collections.items():
            if inner.startswith(f"_{label}/"):
                within = inner.removeprefix(f"_{label}/")
                return _Location(path, DocumentKind.DOCUMENT, label, within) if settings.get("output") else None
        included = [str(name).strip("/") for name in self.config.plain("include") or ()]
        hidden = [part for part in path.split("/") if part.startswith("_")]
        is_published = all(part in included for part in hidden)
        return _Location(path, DocumentKind.PAGE, "pages", path) if is_published else None

    def front_matter(self, yaml: str, location: _Location) -> Mapping[str, Node]:
        """Return the front matter of a file with the site's defaults; of what is no YAML, the lines that can be read.

        Jekyll publishes a text with such front matter, so its mistakes are warnings.
        """
        plain = without_anchors(yaml)
        node, mistakes = parse_yaml(plain, location.path, first_line=2)
        self.report.diagnostics += (replace(mistake, severity=Severity.WARNING) for mistake in mistakes)
        if node is None:
            node, _ = parse_yaml(_readable_lines(plain), location.path, first_line=2)
        own = node.value if node and isinstance(node.value, Mapping) else {}
        kind = location.collection if location.kind is DocumentKind.DOCUMENT else location.kind
        return {**self.config.defaults(location.path, kind), **own}

    def date(
        self, path: str, kind: DocumentKind, front: Mapping[str, Node], named: str
    ) -> dt.date | dt.datetime | None:
        """Return the date as Jekyll does: of the front matter, else of the name, else a draft's time of change."""
        node = front.get("date")
        if node and node.text:
            if (date := read_date(node.text, self.config.zone)) is not None:
                return date
            self.report.warn("SG608", f"`{node.text}` is no date", node.span, "write `2024-01-05`")
        if named and (date := read_date(named, self.config.zone)) is not None:
            return date
        if kind is DocumentKind.DRAFT:
            return dt.datetime.fromtimestamp((self.folder / path).stat().st_mtime, self.config.zone).date()
        return None

    def url(self, document: JekyllDocument, location: _Location) -> str:
        """Return the old address of a document."""
        given = document.front.get("permalink")
        if document.kind is DocumentKind.PAGE:
            # Jekyll ignores a permalink that a page has only by default.
            own = given.text.strip() if given and given.span.path == document.path else ""
            return self.page_url(document.path, own)
        own = given.text.strip() if given else ""
        chosen = document.front["slug"].text if "slug" in document.front else document.slug
        inner = location.inner.rpartition(".")[0]
        values = values_of_document(location.stem, chosen, inner, document.collection, document.categories)
        values |= values_of_date(in_zone(document.date, self.config.zone)) if document.date else {}
        try:
            return fill_template(own or self.config.template(document.collection), values)
        except UnknownPlaceholder as mistake:
            span = given.span if own and given else Span(document.path)
            self.report.warn("SG607", f"`:{mistake}` is nothing of this document", span, "its old address is unknown")
            return f"/{document.collection}/{slugify(document.slug)}/"

    def page_url(self, path: str, own: str) -> str:
        """Return the old address of a page; `own` is the template in its front matter, or empty."""
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0].rstrip(".")
        template = "/:path/" if stem == "index" else with_ending("/:path/:basename", self.config.style)
        values = {"path": folder, "basename": stem, "title": stem, "output_ext": ".html"}
        return fill_template(own or template, values)


def _readable_lines(yaml: str) -> str:
    """Return the lines `key: value`, a value that is no YAML in quotes, and blank lines in place of other lines."""
    return "\n".join(_readable(match) if (match := _KEY.fullmatch(line)) else "" for line in yaml.split("\n"))


def _readable(line: re.Match[str]) -> str:
    value = (line["value"] or "").strip()
    return line[0] if not parse_yaml(line[0], "")[1] else f"{line['key']}: {json.dumps(value, ensure_ascii=False)}"


def is_diary(text: str) -> bool:
    """Return whether a text is a page of days: a worklog, also where Jekyll ignores its commented-out front matter."""
    return sum(line.date is not None for line in find_days(text).lines) > 1


def _categories(path: str, kind: DocumentKind, front: Mapping[str, Node]) -> tuple[str, ...]:
    """Return the folders above `_posts`, then the names in `categories`, then that in `category`."""
    special = "_drafts" if kind is DocumentKind.DRAFT else "_posts"
    folders = (
        path.partition(f"{special}/")[0].strip("/").split("/")
        if kind in (DocumentKind.POST, DocumentKind.DRAFT)
        else []
    )
    listed = words_of(front.get("categories"))
    single = front.get("category")
    return tuple(dict.fromkeys([*filter(None, folders), *listed, *(as_list(single) if single else ())]))


def words_of(node: Node | None) -> list[str]:
    """Return the words of a text, such as `a b`, or the items of a list."""
    if node is None:
        return []
    return node.text.split() if isinstance(node.value, str) else as_list(node)


def as_list(node: Node) -> list[str]:
    """Return the items of a list, or the one item that a scalar is."""
    items: Any = node.value if isinstance(node.value, tuple) else (node,)
    return [item.text.strip() for item in items if item.text.strip()]
