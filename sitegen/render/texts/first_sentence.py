"""Cut the first sentence from the HTML of a text, for a list: code and formulas stay, and links become their words."""

from __future__ import annotations

import re

from markupsafe import Markup

_PARAGRAPH = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)
_LEFT_OUT = re.compile(r'<sup><a class="fnref".*?</sup>|</?a\b[^>]*>|\0\d+\0', re.DOTALL)
"""Footnotes, slots, and the tags of links, whose words stay."""
_TAG = re.compile(r"(<[^>]*>)")
_VOID = re.compile(r"<(?:br|img|wbr|!)|.*/>$", re.DOTALL)
_SPACES = re.compile(r"[ \t\r\n]+")
"""White space that may end a line; a no-break space stays."""
_END = re.compile(r"[.!?][\"'”’]*(?=\s+[^a-z\s]|\s*$)|[。！？]")
"""The end of a sentence.  A full stop before a small letter ends an abbreviation: `e.g. a warp`."""


def first_sentence(html: str) -> Markup:
    """Return the first sentence; empty when there is no paragraph.  An end inside an element, such as emphasis, does
    not count, because a tag would stay open.
    """
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
    return Markup(_SPACES.sub(" ", "".join(pieces)).strip())
