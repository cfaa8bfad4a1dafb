"""Replace stretches of a text that have an end: comments, formulas, scripts.

A pattern such as `<!--.*?-->` looks for its end behind each beginning.  In a text with many beginnings and no end this
takes time in the square of the length.  Here the search stops at the last end, so that every beginning before it has
one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Closed:
    """A stretch of text: the pattern of the whole, and the pattern of its end."""

    whole: re.Pattern[str]
    end: re.Pattern[str]

    def replaced(self, text: str, new: str | Callable[[re.Match[str]], str]) -> str:
        """Return the text with each stretch replaced."""
        last = self._last(text)
        return self.whole.sub(new, text[:last]) + text[last:]

    def count(self, text: str) -> int:
        """Return the number of stretches."""
        return len(self.whole.findall(text[: self._last(text)]))

    def _last(self, text: str) -> int:
        """Return the offset behind the last end; 0 without one."""
        return max((match.end() for match in self.end.finditer(text)), default=0)


def closed(begin: str, end: str, inside: str = ".*?") -> Closed:
    """Return the stretch between two patterns."""
    flags = re.DOTALL | re.IGNORECASE
    return Closed(re.compile(f"{begin}{inside}{end}", flags), re.compile(end, flags))


COMMENT = closed("<!--", "-->")


def element(name: str) -> Closed:
    """Return the stretch from the start of an element of HTML to its end."""
    return closed(rf"<({name})\b[^<>]*>", rf"</{name}\s*>")
