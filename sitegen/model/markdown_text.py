"""Plain text → Markdown that shows it: as words, or as a code span.  Nothing in the text becomes a tag or a link."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|`|\](?=[(\[:])")
"""Beginnings of tags, ends of the words of a link, and marks of code."""
_AFTER_BRACKET = re.compile(r"(?<=\])[(\[:]")


def as_words(text: str, before: str = "") -> str:
    """Return Markdown that shows a text as it stands; `before` is the Markdown to which it is appended.

    A reference such as `&#60;` takes the place of each mark: a backslash in the text would undo one of ours.
    """
    escaped = _MARKUP.sub(_reference, text)
    return _AFTER_BRACKET.sub(_reference, f"]{escaped}", count=1)[1:] if before.endswith("]") else escaped


def code_span(text: str) -> str:
    """Return a text as a code span, whose marks are longer than any run of backticks in the text."""
    runs = set(map(len, re.findall("`+", text)))
    mark = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    return f"{mark} {text} {mark}" if text[:1] == "`" or text[-1:] == "`" else f"{mark}{text}{mark}"


def _reference(mark: re.Match[str]) -> str:
    return f"&#{ord(mark[0])};"
