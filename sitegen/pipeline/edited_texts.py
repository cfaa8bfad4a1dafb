"""Parse an edited text, and return its document when no other page shows anything new of the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.markup.documents import texts_of
from sitegen.markup.parse import document_of, parse_post_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.site import WorklogEntry
from sitegen.pipeline.additions import site_additions
from sitegen.pipeline.catalogues import vocabulary
from sitegen.pipeline.parsed_part import PiecePlace
from sitegen.pipeline.patchable_days import PatchableDay, PatchableDays
from sitegen.pipeline.patchable_pages import PatchablePage
from sitegen.pipeline.request import BuildRequest
from sitegen.pipeline.text_interface import interface_of_day, interface_of_text
from sitegen.read.load import Worklog
from sitegen.read.source import decode, split_front_matter
from sitegen.read.worklog import parse_day


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text of which its own page alone shows something new."""

    content: bytes | str
    """The identity of its content, as `rules.keys` has it."""
    document: Document
    pieces: tuple[PiecePlace, ...]


def edited_post(
    request: BuildRequest, page: PatchablePage, path: str, data: bytes, digest: bytes, known: Mapping[bytes, str]
) -> EditedText | None:
    """Return the post in a file; None when it has a mistake, or something new that other pages show.

    `known` are the pieces of the text before the edit.
    """
    text, unreadable = decode(data, path)
    text = request.privacy.published(text, path)
    front, broken = split_front_matter(text, path)
    if unreadable or broken:
        return None
    pieces, spoken = Pieces(known), vocabulary(page.lang, request.root)
    document, mistakes = parse_post_text(front.body, pieces, spoken, site_additions(request.root)[0])
    above = text.removesuffix(front.body.text)
    if mistakes or interface_of_text(above, document) != page.interface:
        return None
    return EditedText(digest, document, pieces.places(document.html))


def edited_day_text(
    request: BuildRequest,
    page: PatchablePage,
    days: PatchableDays,
    change: tuple[PatchableDay, PatchableDay],
    digest: bytes,
    known: Mapping[bytes, str],
) -> EditedText | None:
    """Return the text of a day before and after a change; None in the cases of `edited_post`."""
    before, now = (_parsed_day(request, page, day, Pieces(known)) for day in change)
    if before is None or now is None:
        return None
    (old_entry, old, _), (entry, document, pieces) = before, now
    if interface_of_day(old_entry, old, days) != interface_of_day(entry, document, days):
        return None
    return EditedText(entry.body.text or digest, document, pieces.places(document.html))


def _parsed_day(
    request: BuildRequest, page: PatchablePage, day: PatchableDay, pieces: Pieces
) -> tuple[WorklogEntry, Document, Pieces] | None:
    entry, mistakes = parse_day(day.date, day.days_left, day.body)
    spoken, added = vocabulary(page.lang, request.root), site_additions(request.root)[0]
    [(_, text)] = texts_of(Worklog((entry,), None), lambda lang: spoken, lambda key: pieces, added)
    document, of_text = document_of(text)
    return None if mistakes or of_text else (entry, document, pieces)
