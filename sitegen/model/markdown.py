"""One Markdown text.

It has a module of its own so that parsing one edited text does not import the rest of the model.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text below the front matter of one file."""

    text: str
    path: str
    """Relative to the site's root, with forward slashes."""
    first_line: int = 1
    """Line of the file on which `text` begins: line n of the text is line first_line + n - 1 of the file."""
    name: str = ""
    """The date of a day among others in a file.  Edits above the day change its lines, and not its name."""
