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
from sitegen.read.yaml_nodes import parse_yaml, without_places

_OF_SITE = (
    "posts pages documents collections tags categories related_posts static_files html_pages html_files time github"
)
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
    front: dict[str, Any] = {key: without_places(node) for key, node in source.front.items()}
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
    node, _ = parse_yaml(without_anchors(text), path)
    return without_places(node) if node else COMPUTED


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
