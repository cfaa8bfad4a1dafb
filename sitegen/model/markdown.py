"""A text as its author wrote it: apart from the rest of a site, of which one edited text needs nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text below the front matter of one file."""

    text: str
    path: str
    """Relative to the site's root, with forward slashes."""
    first_line: int = 1
    """The line of the file on which `text` begins: line n of the text is line first_line + n - 1."""
