"""Parse edited days of the worklog, and find which pages of weeks, months and years show another sum of words.

The module is imported only when a file of the worklog was edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sitegen.markup.documents import texts_of
from sitegen.markup.parse import document_of
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.site import WorklogEntry
from sitegen.pipeline.additions import site_additions
from sitegen.pipeline.build_state import BuildState
from sitegen.pipeline.catalogues import vocabulary
from sitegen.pipeline.edited_day import edited_day
from sitegen.pipeline.edited_post import EditedText
from sitegen.pipeline.patchable_days import PatchableDay, load_patchable_days, save_patchable_days
from sitegen.pipeline.patchable_pages import PatchablePage
from sitegen.pipeline.request import BuildRequest
from sitegen.pipeline.text_interface import interface_of_day
from sitegen.pipeline.word_sums import patch_word_sums
from sitegen.read.load import Worklog
from sitegen.read.source import decode
from sitegen.read.worklog import parse_day

DayChange = tuple[PatchableDay, PatchableDay]
"""A day before and after an edit."""


class PatchedDays:
    """The days of the worklog that are patched in one build, one after another."""

    def __init__(self, request: BuildRequest, previous: BuildState) -> None:
        self._request, self._previous = request, previous
        self._before = self._now = load_patchable_days(request.state_file, request.version)
        self._patched: list[PatchableDay] = []

    def change(self, path: str, data: bytes) -> DayChange | None:
        """Return the only day that changed in a file, before and after the change; None when anything else changed."""
        text, unreadable = decode(data, path)
        days, digest = self._now.of_file(path), self._previous.digests[path]
        published = self._request.privacy.published(text, path)
        return edited_day(days, published, digest) if days and not unreadable else None

    def text(
        self, page: PatchablePage, change: DayChange, digest: bytes, known: Mapping[bytes, str]
    ) -> EditedText | None:
        """Return the new text of a day; None when it has a mistake, or something new that other pages show.

        `digest` is that of the day's file, and `known` are the pieces of the text before the change.
        """
        before, now = (self._parsed(page, day, Pieces(known)) for day in change)
        if before is None or now is None:
            return None
        (old_entry, old, _), (entry, document, pieces) = before, now
        if interface_of_day(old_entry, old, self._now) != interface_of_day(entry, document, self._now):
            return None
        day = replace(change[1], words=max(document.words, 1))
        self._now = self._now.with_day(day)
        self._patched.append(day)
        return EditedText(entry.body.text or digest, document, pieces.places(document.html), entry.body)

    def pages_with_sums(self) -> dict[str, bytes] | None:
        """Return the pages with new sums of words, by output path; None when a page does not show its sum once."""
        days = self._patched
        return patch_word_sums(self._request, self._previous, self._before, self._now, days) if days else {}

    def save(self) -> None:
        """Keep the days for the next build."""
        save_patchable_days(self._request.state_file, self._request.version, self._now)

    def _parsed(
        self, page: PatchablePage, day: PatchableDay, pieces: Pieces
    ) -> tuple[WorklogEntry, Document, Pieces] | None:
        root = self._request.root
        entry, mistakes = parse_day(day.date, day.days_left, day.body)
        spoken, added = vocabulary(page.lang, root), site_additions(root)[0]
        [(_, text)] = texts_of(Worklog((entry,), None), lambda lang: spoken, lambda key: pieces, added)
        document, of_text = document_of(text)
        return None if mistakes or of_text else (entry, document, pieces)
