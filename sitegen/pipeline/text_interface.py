"""Digest the interface of a text: everything of it that pages other than its own may show, link to, or report.

Two versions of a text with equal interfaces give the same linked site.  Between them only the pages change that show
the whole text: its own page, and feeds.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from sitegen.diagnostics import Span
from sitegen.model.document import CellSlot, Document
from sitegen.model.site import Page, Post, Term
from sitegen.pipeline.parsed_part import ParsedPart, without_text
from sitegen.render.shared.numbers import minutes

_NO_SPAN = Span("")


def interface_of_text(front_matter: str, document: Document) -> bytes:
    """Return the interface of a post, from the text above its body and its document."""
    return blake2b(repr((front_matter, _seen_by_others(document))).encode(), digest_size=16).digest()


def interface_of_part(parsed: ParsedPart) -> bytes | None:
    """Return the interface of a part; None for the configuration, series, kernels, the worklog, and files that are no
    texts of their own, because every page may show anything of them.

    The interface leaves out the mistakes in the file: those of the text itself, and those of linking, because the lines
    of its links may move.
    """
    part = parsed.part
    if not isinstance(part, Post | Page | Term):
        return None
    shown = (without_text(part), [(key, _seen_by_others(document)) for key, document in parsed.documents.items()])
    return blake2b(repr(shown).encode(), digest_size=16).digest()


def _seen_by_others(document: Document) -> Document:
    """Return a document without the values that only its own page shows: its HTML, the exact number of its words, and
    the places of its links.

    Cells stay whole, because a record or an implementation that names a cell keeps the cell's place.
    """
    slots = tuple(slot if isinstance(slot, CellSlot) else replace(slot, span=_NO_SPAN) for slot in document.slots)
    return replace(document, html="", slots=slots, words=minutes(document.words))
