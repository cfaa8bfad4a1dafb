"""The variables that Jekyll gives every text: `site` with the files of `_data/`, and `page` with its front matter."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sitegen.importing.jekyll.anchors import without_anchors
from sitegen.importing.jekyll.dates import in_zone
from sitegen.importing.jekyll.site import JekyllDocument, JekyllSite, words_of
from sitegen.importing.jekyll.values import COMPUTED
from sitegen.read.yaml_nodes import Node, parse_yaml, without_places

_OF_SITE = (
    "posts pages documents collections tags categories related_posts static_files html_pages html_files time github"
)
_FLAGS = {
    form(word): flag
    for word, flag in (("yes", True), ("on", True), ("no", False), ("off", False))
    for form in (str.lower, str.capitalize, str.upper)
}
_MOST_SPACES = 80
"""Most characters before a scalar that are searched for its sign, so that a long line takes no long time."""
_OF_PAGE = "content excerpt next previous output id dir name collection relative_path"


def site_variables(site: JekyllSite) -> Mapping[str, Any]:
    """Return the variable `site`, whose `data` is read when a text asks for it first."""
    if not site.variables:
        config = site.config
        site.variables.update({key: config.plain(key) for key in config.values})
        site.variables.update(dict.fromkeys(_OF_SITE.split(), COMPUTED))
        site.variables.update({label: partial(_documents, site, label) for label in config.collections})
        site.variables.update(baseurl=config.baseurl, url=config.text("url").rstrip("/"), data=lambda: _read_data(site))
    return site.variables


def page_variables(site: JekyllSite, source: JekyllDocument) -> Mapping[str, Any]:
    """Return the variable `page` of a text."""
    lines = source.yaml.split("\n")
    front: dict[str, Any] = {
        key: _as_ruby(node, lines, source.yaml_line) if node.at.path == source.path else without_places(node)
        for key, node in source.front.items()
    }
    front |= {key: words_of(source.front[key]) for key in ("tags", "categories") if key in source.front}
    own: dict[str, Any] = {"title": source.title, "url": source.url, "path": source.path}
    if source.date:
        own["date"] = in_zone(source.date, site.config.zone).isoformat()
    return {**dict.fromkeys(_OF_PAGE.split(), COMPUTED), **front, **own}


def _documents(site: JekyllSite, label: str) -> Sequence[Mapping[str, Any]]:
    """Return the variables of each document of a collection."""
    found = [page_variables(site, source) for source in site.sources if source.collection == label]
    site.variables[label] = found
    return found


def _read_data(site: JekyllSite) -> Mapping[str, Any]:
    """Read the files of `_data/`: values by the names of their folders and files."""
    folder, data = site.config.text("data_dir").strip("/") or "_data", dict[str, Any]()
    for path in sorted(site.files):
        name, _, suffix = path.removeprefix(f"{folder}/").rpartition(".")
        if path.startswith(f"{folder}/") and suffix in _READERS:
            _put(data, name.split("/"), _READERS[suffix](site.read(path), path))
    site.variables["data"] = data
    return data


def _put(data: dict[str, Any], name: Sequence[str], value: Any) -> None:
    for folder in name[:-1]:
        inner = data.setdefault(folder, {})
        data = inner if isinstance(inner, dict) else data
    data[name[-1]] = value


def _yaml(text: str, path: str) -> Any:
    text = without_anchors(text)
    node, _ = parse_yaml(text, path)
    return _as_ruby(node, text.split("\n")) if node else COMPUTED


def _as_ruby(node: Node, lines: Sequence[str], first_line: int = 1) -> Any:
    """Return a tree as dicts, lists and scalars, in which `yes`, `no`, `on` and `off` without quotes are flags.

    Ruby's YAML is that of version 1.1.  `lines` are those of the text, which begins on `first_line` of its file.
    """
    if isinstance(node.value, Mapping):
        return {key: _as_ruby(child, lines, first_line) for key, child in node.value.items()}
    if isinstance(node.value, tuple):
        return [_as_ruby(child, lines, first_line) for child in node.value]
    is_flag = node.text in _FLAGS and isinstance(node.value, str)
    return _FLAGS[node.text] if is_flag and _is_bare(node, lines, first_line) else node.value


def _is_bare(node: Node, lines: Sequence[str], first_line: int) -> bool:
    """Return whether a scalar stands behind a sign other than a quote on the line of its key or in a list."""
    row, start = node.span.line - first_line, node.span.col - 1
    line = lines[row] if 0 <= row < len(lines) else ""
    before = line[max(start - _MOST_SPACES, 0) : start].rstrip()
    return line.startswith(node.text, start) and before.endswith((":", ",", "[", "-"))


def _json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return COMPUTED


def _table(text: str, path: str) -> Any:
    try:
        rows = csv.reader(io.StringIO(text), delimiter="\t" if path.endswith("tsv") else ",")
        header = next(rows, [])
        return [dict(zip(header, row, strict=False)) for row in rows if row]
    except csv.Error:
        return COMPUTED


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "csv": _table,
    "json": _json,
    "tsv": _table,
    "yaml": _yaml,
    "yml": _yaml,
}
