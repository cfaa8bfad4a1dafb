"""Keep the own pages of posts and days, so that the next build can patch that of an edited text without linking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sitegen.pipeline.parsed_part import PiecePlace
from sitegen.write import cache
from sitegen.write.fragments import FragmentReference


@dataclass(frozen=True, slots=True)
class PatchablePage:
    """The last printing of the own page of a post or a day."""

    sheet: str
    """The name of its sheet.  Other files of the sheet are at most its Markdown twin and its text for search."""
    key: bytes
    """The key of the sheet when it was printed."""
    interface: bytes
    """`text_interface.interface_of_text` of a post; empty for a day, of which both versions are read."""
    lang: str
    """The language of the text."""
    html: FragmentReference
    """The HTML of the text, with its slots."""
    pieces: tuple[PiecePlace, ...]
    """The pieces of the HTML."""
    slot_contents: tuple[str, ...]
    """The content of each slot of the HTML."""
    twin: tuple[str, ...]
    """The head of its Markdown twin, and the whole address of the target of each slot; empty when it has no twin."""


def load_patchable_pages(state_file: Path, version: bytes) -> dict[str, PatchablePage]:
    """Return the patchable pages of the output whose state is in that file, by the path of the post or the
    `document_key` of the day.
    """
    values = cache.load(_beside(state_file), version) or {}
    return {path: PatchablePage(*one) for path, one in values.items()}


def save_patchable_pages(state_file: Path, version: bytes, pages: Mapping[str, PatchablePage]) -> None:
    """Write the patchable pages of an output as plain values."""
    plain = {
        path: (one.sheet, one.key, one.interface, one.lang, one.html, one.pieces, one.slot_contents, one.twin)
        for path, one in pages.items()
    }
    cache.save(_beside(state_file), version, plain)


def _beside(state_file: Path) -> Path:
    return state_file.with_suffix(".own")
