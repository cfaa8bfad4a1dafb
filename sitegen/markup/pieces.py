"""Remember the costly parts of a text's HTML, listings and formulas, by their source.

When an author edits one paragraph, the listings beside it are taken from the HTML of the text before the edit, and
neither lexers nor TeX are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

_HEAD = 40
"""Number of characters by which a piece is searched for."""


class Pieces:
    """The pieces of one text."""

    def __init__(self, known: Mapping[bytes, str] | None = None) -> None:
        self._known = known or {}
        self.used: dict[bytes, str] = {}
        """The pieces that the text has now."""

    @property
    def are_new(self) -> bool:
        """True if nothing was made of the text before."""
        return not self._known

    def find(self, key: bytes) -> str | None:
        """Return the piece that was made of the same source before."""
        if key in self._known:
            self.used[key] = self._known[key]
        return self._known.get(key)

    def places(self, html: str) -> tuple[tuple[bytes, int, int], ...]:
        """Return each piece of the text, with its begin and its end in the text's HTML.

        The search expects the pieces in about the order in which they were used.
        """
        items: list[tuple[bytes, int, int]] = []
        start = 0
        for key, piece in self.used.items():
            at = _find(html, piece, start)
            at = at if at >= 0 else _find(html, piece, 0)
            if at >= 0:
                start = at + len(piece)
                items.append((key, at, start))
        return tuple(items)

    def keep(self, html: str, key: bytes) -> None:
        self.used[key] = html


def _find(html: str, piece: str, start: int) -> int:
    """Return the place of a piece; `html.find` itself prepares longer for so long a piece than this search takes."""
    head = piece[:_HEAD]
    at = html.find(head, start)
    while at >= 0 and not html.startswith(piece, at):
        at = html.find(head, at + 1)
    return at


def key_of(*source: object) -> bytes:
    """Return the key of what a piece is made of; it is the same in every process."""
    parts = [f"{len(part)} {part}" if isinstance(part, str) else repr(part) for part in source]
    return blake2b("\n".join(parts).encode(), digest_size=12).digest()
