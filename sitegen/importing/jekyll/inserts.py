"""Marks that stand for pieces of Liquid while kramdown is read, and the texts that replace the marks.

Jekyll runs Liquid first and knows nothing of Markdown then.  The replacement of a tag depends on its place: on a line
of its own, within a line, in HTML or in code.  The place is known only when kramdown is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""The code points around a mark, which no text may contain."""
MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_NO_MARKS = dict.fromkeys((ord(_OPEN), ord(_CLOSE)), "\ufffd")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Insert:
    """The replacements of one construct for the four places where it may stand."""

    block: str
    """The text for a line of its own; may have several lines."""
    inline: str
    html: str
    """The text within HTML, without blank lines, which would end the HTML."""
    verbatim: str
    """The text in code, and wherever nothing else fits: the construct as it was written."""


_NO_INSERT = Insert("\ufffd", "\ufffd", "\ufffd", "\ufffd")


def unknown_liquid(source: str) -> Insert:
    """Return the replacements of Liquid that is not understood: its source as code."""
    shown = code_span(source)
    block = fenced(source, "liquid") if "\n" in source else shown
    return Insert(block, shown, f"<code>{escape(source, quote=False)}</code>", source)


def without_marks(text: str) -> str:
    """Return a text without the code points around a mark."""
    return text.translate(_NO_MARKS) if _OPEN in text else text


def code_span(text: str) -> str:
    """Return the text as code within a line, whatever backquotes it has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def fenced(text: str, info: str = "") -> str:
    """Return the text as a listing, whatever fences it has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text.strip(chr(10))}\n{fence}"


@dataclass(slots=True)
class Inserts:
    """The replacements of one text; a mark holds the index of its replacement."""

    all: list[Insert]

    def mark(self, insert: Insert) -> str:
        """Return a new mark for the replacement."""
        self.all.append(insert)
        return f"{_OPEN}{len(self.all) - 1}{_CLOSE}"

    def _of(self, mark: re.Match[str]) -> Insert:
        """Return the replacement of a mark; U+FFFD for a number that none has, which JSON can write in a text."""
        at = int(mark[1]) if len(mark[1]) < 10 else len(self.all)
        return self.all[at] if at < len(self.all) else _NO_INSERT

    def verbatim(self, text: str) -> str:
        return MARK.sub(lambda match: self._of(match).verbatim, text)

    def html(self, text: str) -> str:
        return MARK.sub(lambda match: self._of(match).html, text)

    def inline(self, text: str) -> str:
        return MARK.sub(lambda match: self._of(match).inline, text)

    def block(self, line: str) -> str | None:
        """Return the block for a line that is nothing but a mark, indented like the line; None for any other line."""
        match = MARK.fullmatch(line.strip())
        if match is None:
            return None
        indent = line[: len(line) - len(line.lstrip())]
        lines = self._of(match).block.split("\n")
        return "\n".join(f"{indent}{text}" if text else "" for text in lines)
