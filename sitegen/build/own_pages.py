"""What the own page of a text has of it: kept by a build, so that the next one can mend the page of an edited text
without linking the site (`mend`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sitegen.write import cache
from sitegen.write.fragments import FragmentReference

Piece = tuple[bytes, int, int]
"""What a part of a text's HTML was made from, and where in it that stands."""


@dataclass(frozen=True, slots=True)
class OwnPage:
    sheet: str
    """The name of its sheet, which has no other file."""
    key: bytes
    """Of the sheet, when it was printed."""
    face: bytes
    """Of the text: `elsewhere.face_of_text`."""
    lang: str
    """The language of the text."""
    html: FragmentReference
    pieces: tuple[Piece, ...]
    contents: tuple[str, ...]
    """What stands in each slot of the HTML."""


OwnPages = Mapping[str, OwnPage]
"""By the path of the text."""


def load_own_pages(state_file: Path, version: bytes) -> dict[str, OwnPage]:
    """Those of the output whose state is kept there; empty when there are none that could be used."""
    found = cache.load(_beside(state_file), version) or {}
    return {path: OwnPage(*one) for path, one in found.items()}


def save_own_pages(state_file: Path, version: bytes, pages: OwnPages) -> None:
    plain = {
        path: (one.sheet, one.key, one.face, one.lang, one.html, one.pieces, one.contents)
        for path, one in pages.items()
    }
    cache.save(_beside(state_file), version, plain)


def _beside(state_file: Path) -> Path:
    return state_file.with_suffix(".own")
