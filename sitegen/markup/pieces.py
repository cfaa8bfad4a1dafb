"""The costly parts of a text's HTML, listings and formulas, by what they were made from.

An author edits one paragraph: the listings beside it are taken from what was made of the text before, and neither
lexers nor TeX are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b


class Pieces:
    """Of one text."""

    def __init__(self, known: Mapping[bytes, str] | None = None) -> None:
        self._known = known or {}
        self.used: dict[bytes, str] = {}
        """Those that the text has now."""

    def find(self, key: bytes) -> str | None:
        """What was made of that before."""
        if key in self._known:
            self.used[key] = self._known[key]
        return self._known.get(key)

    def places(self, html: str) -> tuple[tuple[bytes, int, int], ...]:
        """Each piece that the text has now, and where in its HTML it begins and ends."""
        found = ((piece, html.find(one), len(one)) for piece, one in self.used.items())
        return tuple((piece, at, at + length) for piece, at, length in found if at >= 0)

    def keep(self, html: str, key: bytes) -> None:
        self.used[key] = html


def key_of(*source: object) -> bytes:
    """Of what a piece is made of: the same in every process."""
    return blake2b(repr(source).encode(), digest_size=12).digest()
