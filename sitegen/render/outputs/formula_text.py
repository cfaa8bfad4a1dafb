"""Turn the elements of a formula in MathML, as a parser meets them, into one line of text: `2^10`, `(a+b)/c`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSEEN = {0x2061: " ", 0x2062: None, 0x2063: None, 0x2064: None}
"""Characters that a reader does not see; the first stands between a function and its argument."""
_ONE = re.compile(r"[\w.,]*")
"""A number or a name, which needs no brackets."""


class FormulaText:
    """The open elements of a formula, each with the texts of its parts so far."""

    def __init__(self) -> None:
        self._open: list[list[str]] = [[]]

    def start(self) -> None:
        self._open.append([])

    def add(self, text: str) -> None:
        self._open[-1].append(text.translate(_UNSEEN).strip("\n"))

    def end(self, tag: str) -> None:
        parts = self._open.pop()
        self._open[-1].append(_line_of(tag, parts))

    @property
    def text(self) -> str:
        return "".join(self._open[0])


def _line_of(tag: str, parts: Sequence[str]) -> str:
    """Return the text of an element whose parts are texts."""
    match tag, parts:
        case "msup" | "mover", [base, high]:
            return f"{base}^{_grouped(high)}"
        case "msub" | "munder", [base, low]:
            return f"{base}_{_grouped(low)}"
        case "msubsup" | "munderover", [base, low, high]:
            return f"{base}_{_grouped(low)}^{_grouped(high)}"
        case "mfrac", [above, below]:
            return f"{_grouped(above)}/{_grouped(below)}"
        case "msqrt", _:
            return f"√{_grouped(''.join(parts))}"
        case "mspace", _:
            return " "
        case "mtr", _:
            return " ".join(parts)
        case "mtable", _:
            return "; ".join(parts)
    return "".join(parts)


def _grouped(text: str) -> str:
    return text if _ONE.fullmatch(text) else f"({text})"
