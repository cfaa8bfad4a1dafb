"""Translate the English words of tables, charts and diagrams in the HTML of a text that is in another language.

The text itself is in its language already.  What the program adds to it, such as the heads of a table of measurements,
is English: a text between two tags is replaced where the catalogue has it.  A key may hold values: `noise {share}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sitegen.model.vocabulary import Vocabulary

_TAG = re.compile(r"(<[^>]*>)")
_NAME = re.compile(r"</?([a-z][a-z0-9-]*)")
_LEFT_OUT = frozenset({"a", "code", "em", "i", "pre", "script", "strong", "style", "math"})
"""Elements of which every word is somebody's: code, names, emphasis in the prose."""
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_NBSP = "\N{NO-BREAK SPACE}"
_Patterns = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns of the keys with values, each with its key."""


def in_its_language(html: str, spoken: Vocabulary) -> str:
    """Return the HTML with the texts that the catalogue of `spoken` has in their translation."""
    return "".join(_pieces(html, spoken)) if spoken.words else html


def _pieces(html: str, spoken: Vocabulary) -> Iterator[str]:
    """Yield tags as they are, and texts translated.  The name of a row stays: it is an implementation."""
    depth, row, patterns = 0, False, _patterns(tuple(spoken.words))
    for piece in _TAG.split(html):
        if not piece.startswith("<"):
            yield piece if depth or (row and " " not in piece.strip()) else _said(piece, spoken, patterns)
            continue
        name = _NAME.match(piece)
        if name and name[1] in _LEFT_OUT:
            depth += -1 if piece.startswith("</") else 1
        if name:
            row = piece.startswith("<th") and 'scope="row"' in piece
        yield piece


def _said(piece: str, spoken: Vocabulary, patterns: _Patterns) -> str:
    text = piece.strip().replace(_NBSP, " ")
    if not text:
        return piece
    if (whole := spoken.words.get(text)) is not None:
        return piece.replace(piece.strip(), whole)
    for pattern, english in patterns:
        if found := pattern.fullmatch(text):
            return piece.replace(piece.strip(), spoken.say(english, **found.groupdict()))
    return piece


@lru_cache(maxsize=8)
def _patterns(keys: tuple[str, ...]) -> _Patterns:
    """Return the keys with words and values as patterns, the longest first; `{n} posts` matches `3 posts`.

    `{day} {month} {year}` has no word of its own.  As a pattern it would match any three words of the author's text.
    """
    with_values = sorted((key for key in keys if _has_words_and_values(key)), key=len, reverse=True)
    return tuple((re.compile(_VALUE.sub(r"(?P<\1>[^<>]+?)", re.escape(key))), key) for key in with_values)


def _has_words_and_values(key: str) -> bool:
    words, values = re.subn(r"\{\w+\}", "", key)
    return bool(values) and any(map(str.isalpha, words))
