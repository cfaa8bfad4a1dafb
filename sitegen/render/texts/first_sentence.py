"""The HTML of a text → its first sentence, for a list: code and formulas as they are, links as their words."""

from __future__ import annotations

import re

from markupsafe import Markup

_PARAGRAPH = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)
_LEFT_OUT = re.compile(r'<sup><a class="fnref".*?</sup>|</?a\b[^>]*>|\0\d+\0', re.DOTALL)
"""Footnotes and what a slot would show; of links only the words stay."""
_TAG = re.compile(r"(<[^>]*>)")
_VOID = re.compile(r"<(?:br|img|wbr|!)|.*/>$", re.DOTALL)
_END = re.compile(r"[.!?][\"'”’]*(?=\s+[^a-z\s]|\s*$)|[。！？]")
"""Before a small letter it is a shortened word: `e.g. a warp`."""


def first_sentence(html: str) -> Markup:
    """Empty where there is no paragraph.  An end within an element, as in emphasis, ends nothing: no tag stays open."""
    paragraph = _PARAGRAPH.search(html)
    pieces = _TAG.split(_LEFT_OUT.sub("", paragraph[1])) if paragraph else []
    kept: list[str] = []
    depth = 0
    for piece in pieces:
        if piece.startswith("<"):
            depth += 0 if _VOID.match(piece) else -1 if piece.startswith("</") else 1
        elif not depth and (end := _END.search(piece)):
            return _line([*kept, piece[: end.end()]])
        kept.append(piece)
    return _line(kept)


def _line(pieces: list[str]) -> Markup:
    return Markup(" ".join("".join(pieces).split()))
