"""Take the documents of the days of a worklog that an edit left alone, from the parts before and after the edit.

All days of a worklog are one part, because a day may be written in two files.  Without this module, an edit of one day
would parse the texts of all days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sitegen.model.document import Document, ImageSlot, LinkSlot, TermSlot
from sitegen.model.linked import document_key
from sitegen.model.site import Markdown
from sitegen.pipeline.parsed_part import ParsedPart
from sitegen.read.load import SitePart, Worklog


def unchanged_days(part: SitePart | None, before: ParsedPart) -> dict[str, Document]:
    """Return the documents of the days with the same text as before, by `document_key`, with their lines of now.

    A day with a mistake is left out, because its mistakes are not kept.  So is a day with anything that is not a link,
    an image or a term, because only the lines of those are corrected here.
    """
    if not isinstance(part, Worklog) or not isinstance(before.part, Worklog):
        return {}
    old = {(entry.date, document_key(entry.body)): entry.body for entry in before.part.entries}
    lines = _lines_with_mistakes(before)
    unchanged: dict[str, Document] = {}
    for entry in part.entries:
        key, now = document_key(entry.body), entry.body
        was = old.get((entry.date, key))
        if was and was.text == now.text and lines.isdisjoint(_lines(was)) and _is_simple(before.documents[key]):
            unchanged[key] = _moved(before.documents[key], now.first_line - was.first_line)
    return unchanged


def without_days(part: SitePart | None, known: Mapping[str, Document]) -> SitePart | None:
    """Return a worklog without the days of which the document is known; any other part as it is."""
    if not isinstance(part, Worklog) or not known:
        return part
    return replace(part, entries=tuple(entry for entry in part.entries if document_key(entry.body) not in known))


def _lines_with_mistakes(part: ParsedPart) -> set[tuple[str, int]]:
    return {(mistake.span.path, mistake.span.line) for mistake in part.diagnostics if mistake.span}


def _lines(text: Markdown) -> set[tuple[str, int]]:
    return {(text.path, text.first_line + index) for index in range(text.text.count("\n") + 1)}


def _is_simple(document: Document) -> bool:
    links_only = all(isinstance(slot, LinkSlot | ImageSlot | TermSlot) for slot in document.slots)
    return links_only and not document.cells and not document.kept


def _moved(document: Document, lines: int) -> Document:
    """Return the document of a text that stands that many lines further down."""
    if not lines or not document.slots:
        return document
    slots = (
        replace(slot, span=replace(slot.span, line=slot.span.line + lines))
        for slot in document.slots
        if isinstance(slot, LinkSlot | ImageSlot | TermSlot)
    )
    return replace(document, slots=tuple(slots))
