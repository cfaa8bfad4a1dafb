"""Turn the HTML of a day of the worklog into the excerpt that lists show, and sums of words into their HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from sitegen.render.shared import numbers

_NOT_WORDS = re.compile('\0\\d+\0|<span class="vh">[^<]*</span>')
"""Slots, and text for screen readers only."""
_BLOCK = re.compile(r"</?(?:p|li|ul|ol|h\d|div|blockquote|pre|table|tr|d[ltd]|figure|figcaption)\b[^>]*>")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+(?=[^a-z\s])")
"""The space after a sentence.  A full stop before a small letter ends an abbreviation."""
_STOPS = (".", "!", "?", ":", ";", "。", "！", "？")


def excerpt(html: str, letters: int = 160) -> str:
    """Return the first sentences of a day as plain text, as many as fit; a long first sentence is cut at a word."""
    shown = ""
    for sentence in _sentences(html):
        longer = f"{shown}{' ' if shown.endswith(_STOPS) else ' · ' if shown else ''}{sentence}"
        if len(longer) > letters:
            return shown or f"{sentence[:letters].rsplit(' ', 1)[0]} …"
        shown = longer
    return shown


def _sentences(html: str) -> Iterator[str]:
    """Yield the sentences of a text; a list item or a heading without a full stop is one, too."""
    for block in _blocks(html):
        words = " ".join(Markup(_NOT_WORDS.sub("", block)).striptags().split())
        yield from filter(None, _SENTENCE_END.split(words))


def _blocks(html: str) -> Iterator[str]:
    """Yield the text between the tags of blocks.  An excerpt needs only the first of them."""
    at = 0
    for tag in _BLOCK.finditer(html):
        yield html[at : tag.start()]
        at = tag.end()
    yield html[at:]


def word_sum(period: str, words: int) -> Markup:
    """Return the number of words of a week, a month or a year in an element with an id, by which a build finds it."""
    return Markup('<span id="words-{}">{}</span>').format(period, numbers.count(words, "word"))
