"""Write the tokens of a listing as HTML: a kind becomes a class, a span ends with its line, and blanks have no span."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

UNFIT = "\0"
"""The mark of a blank with a class until its neighbours are known.  No text may hold this character."""
_OPEN = '<span class="'
_NEIGHBOURS = re.compile(f'</span>{_OPEN}(\\w+)">')
_BLANK = re.compile(r'<span class="\w+">(\s+)</span>')


def show(kind: str, text: str) -> str:
    """Return the HTML of one token; a token without a class has an empty kind."""
    html = escape(text, quote=False)
    if not kind:
        return html
    if "\n" not in html:
        return _span(kind, html)
    first, *others, last = html.split("\n")
    within = [line if line.isspace() else _span(kind, line) for line in others]
    return "\n".join([_span(kind, first), *within, _span(kind, last)])


def _span(kind: str, html: str) -> str:
    return f'{UNFIT if html.isspace() else ""}<span class="{kind}">{html}</span>' if html else ""


def lines(pieces: Sequence[str]) -> list[str]:
    """Return the HTML of each line of plain text (even places) and HTML (odd places); join neighbours of one kind."""
    plain = UNFIT.join(pieces[::2])
    if "&" in plain or "<" in plain or ">" in plain:
        pieces = list(pieces)
        pieces[::2] = escape(plain, quote=False).split(UNFIT)
    html = "".join(pieces)
    if UNFIT not in html:
        return _joined(html).split("\n")
    return _BLANK.sub(r"\1", _joined(html.replace(UNFIT, ""))).split("\n")


def _joined(html: str) -> str:
    """Return the HTML without the tags between neighbours of one kind."""
    parts, start = [], 0
    for match in _NEIGHBOURS.finditer(html):
        before = html.rfind(_OPEN, 0, match.start()) + len(_OPEN)
        if html.startswith(f'{match[1]}"', before):
            parts.append(html[start : match.start()])
            start = match.end()
    return "".join([*parts, html[start:]])
