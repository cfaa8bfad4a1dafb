"""Read content/exercises/<id>/index.md into an `Exercise`: front matter, statement, and hints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.markdown import Markdown
from sitegen.model.site import Exercise
from sitegen.read.pages import page_parts
from sitegen.read.shape import minutes, read_as
from sitegen.read.worklog_days import visible_lines

_HINTS = re.compile(r"^## Hints[^\S\n]*(?:\n|\Z)", re.M)
_HEADING = re.compile(
    r" {0,3}(?P<marked>#{1,6}[ \t]*(?P<word>[^\W\d]+)(?:[ \t]*\d+)?[:.]?)[ \t]*#*[ \t]*(?:\{.*\})?\s*"
)
"""Pattern of a heading of one word, perhaps with a number or a colon, an id in braces, or no space behind the marks."""
_LEAST_LIKENESS = 0.8
"""Likeness of a word to `hints` from which on it means it: 0.89 for `hint`, 0.73 for `points`."""


def parse_exercise(text: str, path: str) -> tuple[Exercise, tuple[Diagnostic, ...]]:
    """Return the exercise and its mistakes; `path` is content/exercises/<id>/index.md."""
    parts, node, diagnostics = page_parts(text, path)
    statement, hints = _split(parts["body"])
    if hints is None and (mistake := _misspelt_heading(statement)):
        diagnostics.append(mistake)
    given = {"id": path.split("/")[-2], "body": statement, "hints": hints, "span": parts["span"]}
    keys = node.value if node and isinstance(node.value, Mapping) else {}
    given["counted_span"] = keys["counted_at"].span if "counted_at" in keys else None
    special = {"minutes": minutes}
    exercise = read_as(Exercise, node, diagnostics, given=given, noun="front matter key", convert=special)
    return exercise, tuple(diagnostics)


def _split(body: Markdown) -> tuple[Markdown, Markdown | None]:
    """Return the statement and the hints; None when there is no heading `## Hints`."""
    heading = _HINTS.search(body.text)
    if heading is None:
        return body, None
    above = body.text[: heading.start()]
    first = body.first_line + above.count("\n") + 1
    return replace(body, text=above), Markdown(body.text[heading.end() :], body.path, first)


def _misspelt_heading(body: Markdown) -> Diagnostic | None:
    """Return a warning for the first heading that is nearly `## Hints`; None when no heading is."""
    for index, line in visible_lines(body.text):
        heading = _HEADING.fullmatch(line)
        if heading and SequenceMatcher(None, heading["word"].lower(), "hints").ratio() >= _LEAST_LIKENESS:
            marked = heading["marked"]
            span = Span(body.path, body.first_line + index, heading.start("marked") + 1, len(marked))
            message = f"the heading `{marked}` does not begin the hints, so readers see them as part of the statement"
            return Diagnostic("SG017", message, span, "write `## Hints`", Severity.WARNING)
    return None
