"""Read content/exercises/<id>/index.md into an `Exercise`: front matter, statement, and hints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sitegen.diagnostics import Diagnostic
from sitegen.model.markdown import Markdown
from sitegen.model.site import Exercise
from sitegen.read.pages import page_parts
from sitegen.read.shape import minutes, read_as

_HINTS = re.compile(r"^## Hints[^\S\n]*\n", re.M)


def parse_exercise(text: str, path: str) -> tuple[Exercise, tuple[Diagnostic, ...]]:
    """Return the exercise and its mistakes; `path` is content/exercises/<id>/index.md."""
    parts, node, diagnostics = page_parts(text, path)
    statement, hints = _split(parts["body"])
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
