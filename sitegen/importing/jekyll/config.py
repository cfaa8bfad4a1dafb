"""Read _config.yml, and write content/site.yaml from it.

Front matter defaults after lib/jekyll/frontmatter_defaults.rb of jekyll/jekyll @ 202df57.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.importing.jekyll.anchors import without_anchors
from sitegen.importing.jekyll.permalinks import STYLES, with_ending
from sitegen.importing.jekyll.report import ImportReport
from sitegen.importing.jekyll.yaml_text import entry
from sitegen.read.shape import read_language
from sitegen.read.yaml_nodes import Node, parse_yaml, without_places

FILES = ("_config.yml", "_config.yaml")
MARKDOWN = frozenset({"markdown", "mkdown", "mkdn", "mkd", "md"})
_UNDERSTOOD = frozenset(
    re.findall(
        r"\w+",
        "title url baseurl description author timezone lang locale permalink collections collections_dir defaults "
        "include exclude markdown markdown_ext kramdown scholar source destination encoding safe plugins gems "
        "highlighter theme remote_theme liquid sass future show_drafts unpublished strict_front_matter incremental "
        "port host keep_files excerpt_separator whitelist",
    )
)
_MATH = ("mathjax", "katex", "enable_math", "use_math")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of _config.yml by key, and what Jekyll concludes from them."""

    path: str = FILES[0]
    values: Mapping[str, Node] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return the scalar of a key as it was written; empty where there is none."""
        node = self.values.get(key)
        return node.text.strip() if node and isinstance(node.value, str | int | float) else ""

    def plain(self, key: str) -> Any:
        """Return the value of a key as plain lists, dicts and scalars; None where there is none."""
        node = self.values.get(key)
        return without_places(node) if node else None

    @property
    def baseurl(self) -> str:
        """The path in front of every address, such as `/blog`; empty where there is none."""
        path = self.text("baseurl").strip("/")
        return f"/{path}" if path else ""

    @property
    def base_url(self) -> str:
        return f"{self.text('url').rstrip('/')}{self.baseurl}/" if self.text("url") else ""

    @property
    def zone(self) -> dt.tzinfo:
        """The site's timezone; UTC where none is set, as on the machines that build Jekyll sites."""
        try:
            return zoneinfo.ZoneInfo(self.text("timezone")) if self.text("timezone") else dt.UTC
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            return dt.UTC

    @property
    def style(self) -> str:
        return self.text("permalink") or "date"

    @property
    def collections(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings of each collection by its label, without those of posts."""
        collections = self.plain("collections")
        if isinstance(collections, list):
            return {str(label): {} for label in collections if label != "posts"}
        settings = collections if isinstance(collections, dict) else {}
        others = {label: given for label, given in settings.items() if label != "posts"}
        return {label: given if isinstance(given, dict) else {} for label, given in others.items()}

    def template(self, collection: str) -> str:
        """Return the template of the addresses of a collection's documents."""
        settings = self.plain("collections")
        given = settings.get(collection) if isinstance(settings, dict) else None
        own = given.get("permalink") if isinstance(given, dict) else None
        if own:
            return str(own)
        of_posts = collection == "posts"
        return STYLES.get(self.style, self.style) if of_posts else with_ending("/:collection/:path", self.style)

    @property
    def markdown_suffixes(self) -> frozenset[str]:
        given = self.text("markdown_ext")
        return frozenset(name.strip() for name in given.split(",")) if given else MARKDOWN

    @property
    def is_gfm(self) -> bool:
        """True if headings get ids by GitHub's rules: kramdown reads GFM unless the configuration says otherwise."""
        kramdown = self.plain("kramdown")
        return not isinstance(kramdown, dict) or str(kramdown.get("input", "GFM")).upper() == "GFM"

    @property
    def bibliography(self) -> str:
        """The path of jekyll-scholar's file from the Jekyll folder."""
        scholar = self.plain("scholar")
        given = scholar if isinstance(scholar, dict) else {}
        folder = str(given.get("source") or "_bibliography").strip("./")
        return f"{folder}/{given.get('bibliography') or 'references.bib'}"

    def inner(self, path: str) -> str:
        """Return the path of a file from the folder of the collections, in which categories and `defaults:` count."""
        root = self.text("collections_dir").strip("/")
        return path.removeprefix(f"{root}/") if root else path

    def defaults(self, path: str, kind: str) -> Mapping[str, Node]:
        """Return the front matter that `defaults:` gives a file of `posts`, `drafts`, `pages` or a collection."""
        merged: dict[str, Node] = {}
        path = self.inner(path)
        rank = (-1, False)
        for scope, values in self._sets():
            wanted = self.inner(_scope_path(scope))
            if not _applies(scope, wanted, path, kind):
                continue
            own = (len(wanted), "type" in scope)
            merged = {**merged, **values} if own >= rank else {**values, **merged}
            rank = max(own, rank)
        return merged

    def _sets(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Node]]]:
        node = self.values.get("defaults")
        for item in node.value if node and isinstance(node.value, tuple) else ():
            scope, values = item.get("scope"), item.get("values")
            if values and isinstance(values.value, Mapping):
                given = without_places(scope) if scope else {}
                yield (given if isinstance(given, dict) else {}), values.value


def read_config(text: str, path: str, report: ImportReport) -> Config:
    """Return the settings of the file `path`; settings that sitegen does not read are reported."""
    node, mistakes = parse_yaml(without_anchors(text), path)
    report.diagnostics += mistakes
    values = node.value if node and isinstance(node.value, Mapping) else {}
    others = sorted(key for key in values if key not in _UNDERSTOOD)
    if others:
        first = values[others[0]].at
        report.warn("SG609", f"settings without a place here: {', '.join(others)}", first, "look after what you need")
    return Config(path, values)


def site_yaml(config: Config, folder: str, report: ImportReport) -> str:
    """Return content/site.yaml; a missing title or URL gets a value that must be changed, with a warning."""
    title = config.text("title")
    if not title or title == "blank":
        names = [config.text(key) for key in ("first_name", "middle_name", "last_name")]
        title = " ".join(filter(None, names)) or folder
        report.warn("SG609", "no `title`", Span(config.path), f"content/site.yaml says `{title}`: change it")
    base_url = config.base_url
    if not base_url.startswith(("http://", "https://")):
        base_url = f"https://example.org{config.baseurl}/"
        report.warn("SG609", "no `url`", Span(config.path), f"content/site.yaml says {base_url}: change it")
    lines = [entry("title", " ".join(title.split())), entry("base_url", base_url)]
    if description := " ".join(config.text("description").split()):
        lines.append(entry("description", description))
    lines.append(entry("language", language_of(config.values.get("lang") or config.values.get("locale")) or "en"))
    lines.append(entry("timezone", str(config.zone)))
    return "".join(lines)


def language_of(node: Node | None) -> str:
    """Return the language of a node, `en-US` for `en_US`; empty where it is no language."""
    given = replace(node, text=node.text.replace("_", "-")) if node else None
    mistakes: list[Diagnostic] = []
    return given.text if given and read_language(given, mistakes) and not mistakes else ""


def has_math(text: str) -> bool:
    """Return whether a file of the Jekyll site loads a typesetter of formulas between single dollar signs."""
    lower = text.lower()
    return any(word in lower for word in _MATH)


def _scope_path(scope: Mapping[str, Any]) -> str:
    return str(scope.get("path") or "").lstrip("/")


def _applies(scope: Mapping[str, Any], wanted: str, path: str, kind: str) -> bool:
    if "type" in scope and scope["type"] not in (kind, {"posts": "post", "drafts": "draft", "pages": "page"}.get(kind)):
        return False
    return path.startswith(wanted) or ("*" in wanted and any(fnmatchcase(part, wanted) for part in _above(path)))


def _above(path: str) -> Iterator[str]:
    """Yield the path and every folder above it."""
    parts = path.split("/")
    yield from ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
