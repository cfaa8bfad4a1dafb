"""What stands for a piece of Liquid while kramdown is read: a mark, and what is written in its place.

Jekyll runs Liquid first and knows nothing of Markdown then; what a tag becomes here depends on whether it stands on a
line of its own, within a line, in HTML or in code, which is known only later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""Code points that no text may contain."""
MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Insert:
    """One construct, in the four places where it may stand."""

    block: str
    """On a line of its own; may have several lines."""
    inline: str
    html: str
    """One line at least where it stands in HTML: a blank line would end that."""
    verbatim: str
    """In code, and wherever nothing else fits: what stood there."""


def kept(source: str) -> Insert:
    """What is not understood: visible, as it was written."""
    shown = code_span(source)
    block = fenced(source, "liquid") if "\n" in source else shown
    return Insert(block, shown, f"<code>{escape(source, quote=False)}</code>", source)


def code_span(text: str) -> str:
    """The text as code within a line, whatever backquotes it has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def fenced(text: str, info: str = "") -> str:
    """The text as a listing, whatever fences it has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text.strip(chr(10))}\n{fence}"


@dataclass(slots=True)
class Inserts:
    """Those of one text."""

    all: list[Insert]

    def mark(self, insert: Insert) -> str:
        self.all.append(insert)
        return f"{_OPEN}{len(self.all) - 1}{_CLOSE}"

    def verbatim(self, text: str) -> str:
        return MARK.sub(lambda found: self.all[int(found[1])].verbatim, text)

    def html(self, text: str) -> str:
        return MARK.sub(lambda found: self.all[int(found[1])].html, text)

    def inline(self, text: str) -> str:
        return MARK.sub(lambda found: self.all[int(found[1])].inline, text)

    def block(self, line: str) -> str | None:
        """The lines for a line that is nothing but a mark, indented like it; None for any other."""
        found = MARK.fullmatch(line.strip())
        if found is None:
            return None
        indent = line[: len(line) - len(line.lstrip())]
        lines = self.all[int(found[1])].block.split("\n")
        return "\n".join(f"{indent}{text}" if text else "" for text in lines)
