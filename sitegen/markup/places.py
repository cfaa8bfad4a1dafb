"""Compute the place in the file of a construct within a line, and its address as it was written there."""

from __future__ import annotations

from urllib.parse import unquote

from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup.collected import Collected
from sitegen.model.urls import is_external


def span_within(token: Token, words: str, into: Collected) -> Span:
    """Return the place of `words` in the token's source, or of the token's first character."""
    line, col = token.meta.get("line", 0), token.meta.get("col", 0)
    source = into.lines[line] if line < len(into.lines) else ""
    at = source.find(words, col) if words else -1
    if at >= 0:
        return into.span(line, at, len(words))
    return into.span(line, min(col, max(len(source) - 1, 0)))


def target_of(token: Token, name: str) -> str:
    """Return the address in an attribute as the author wrote it; markdown-it has percent-encoded it."""
    target = str(token.attrGet(name) or "")
    return target if is_external(target) else unquote(target)
