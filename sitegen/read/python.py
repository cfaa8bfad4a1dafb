"""Python source → where it stops to be Python."""

from __future__ import annotations

import ast

from sitegen.diagnostics import Diagnostic, Span


def syntax_mistake(source: str, path: str) -> Diagnostic | None:
    """The first one in a file."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        return Diagnostic("SG036", f"this is not Python: {said}", _span(error, path))
    return None


def _span(error: SyntaxError | ValueError, path: str) -> Span:
    if not isinstance(error, SyntaxError):
        return Span(path)
    line, col, end = error.lineno or 1, error.offset or 1, error.end_offset or 0
    return Span(path, line, max(col, 1), max(end - col, 1) if error.end_lineno == error.lineno else 1)
