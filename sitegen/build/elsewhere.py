"""A text → a digest of all that other pages than its own may show of it, link to, or find wrong."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from sitegen.diagnostics import Span
from sitegen.model.document import CellSlot, Document
from sitegen.render.shared.numbers import minutes

_NOWHERE = Span("")


def seen_elsewhere(document: Document) -> Document:
    """Without what only the text's own page has: its HTML, the exact number of its words, the places of its links.

    Cells stay whole: what names one, a record or an implementation, keeps its place, too.
    """
    slots = tuple(slot if isinstance(slot, CellSlot) else replace(slot, span=_NOWHERE) for slot in document.slots)
    return replace(document, html="", slots=slots, words=minutes(document.words))


def face_of_text(above: str, document: Document) -> bytes:
    """`above` is what stands over the text in its file, its front matter."""
    return blake2b(repr((above, seen_elsewhere(document))).encode(), digest_size=16).digest()
