"""Find the feeds that Liquid makes on a Jekyll site: paths of files in, the paths of feeds out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Span
from sitegen.importing.jekyll.report import ImportReport
from sitegen.model.urls import FEED

_MADE_BY_LIQUID = re.compile(rb"---[ \t]*\r?\n.*?^---.*?<(?:feed|rss|rdf:RDF)\b", re.DOTALL | re.MULTILINE)
_SUFFIXES = (".xml", ".atom", ".rss")
_START_BYTES = 4096


def feeds_of(folder: Path, paths: Iterable[str], report: ImportReport) -> frozenset[str]:
    """Return the feeds among the files that Jekyll publishes; one whose address has no feed here is reported."""
    feeds = [path for path in sorted(paths) if path.endswith(_SUFFIXES) and _is_feed(folder, path)]
    for path in feeds:
        if path != FEED:
            hint = f"it is left out; let your server send readers of `/{path}` to `/{FEED}`, the feed of the new site"
            report.warn("SG606", "this feed is made by Liquid", Span(path), hint)
    return frozenset(feeds)


def _is_feed(folder: Path, path: str) -> bool:
    hidden = any(part.startswith("_") for part in path.split("/"))
    return not hidden and _MADE_BY_LIQUID.match(inside.read_start(folder, path, _START_BYTES)) is not None
