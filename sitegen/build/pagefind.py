"""Whether the index of search can be made: Pagefind comes with an extra, for most sites have no search."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.read.root import SITE_FILE


def without_pagefind(root: Path) -> tuple[Diagnostic, ...]:
    """The mistake of a site that wants search where Pagefind is not installed."""
    if find_spec("pagefind"):
        return ()
    from sitegen.read.texts import read_text
    from sitegen.read.yaml_nodes import parse_yaml

    node = parse_yaml(read_text(root, SITE_FILE)[0] or "", SITE_FILE)[0]
    asked = node.get("search") if node else None
    message, hint = "search needs Pagefind, which is not installed", "`pip install 'sitegen[search]'`"
    return (Diagnostic("SG503", message, asked.span if asked else Span(SITE_FILE), hint),)
