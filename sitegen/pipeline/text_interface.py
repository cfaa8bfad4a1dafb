"""Digest the interface of a text: everything of it that pages other than its own may show, link to, or report.

Two versions of a text with equal interfaces give the same linked site.  Between them only the pages change that show
the whole text: its own page, and feeds.  An edited day of the worklog also changes the sums of words of its week, its
month and its year.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from sitegen.diagnostics import Span
from sitegen.model.document import CellSlot, Document
from sitegen.model.site import Page, Post, Term, WorklogEntry
from sitegen.pipeline.parsed_part import ParsedPart, without_text
from sitegen.render.shared.numbers import minutes

if TYPE_CHECKING:
    from sitegen.pipeline.patchable_days import PatchableDays

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


def interface_of_day(entry: WorklogEntry, document: Document, days: PatchableDays) -> object:
    """Return the interface of a day among the other days: a value to compare with that of another text of the day.

    The interface leaves out the exact number of words, which only the sums of weeks, months and years show.
    """
    from sitegen.linking.mentions import by_first_words, named_in  # texts of other kinds do not wait for these modules
    from sitegen.read.reading_list import links_in
    from sitegen.read.worklog_tasks import closed_by_prose
    from sitegen.render.figures.inline_charts import level
    from sitegen.render.texts.day_summaries import excerpt

    text = entry.body.text
    return (
        _seen_by_others(replace(document, words=0)),
        (level(document.words), excerpt(document.html)),
        [replace(task, line=0) for task in entry.tasks],
        entry.questions,
        closed_by_prose(entry, days.tasks),
        (list(links_in(entry)), "://" in text),
        set(named_in(text, by_first_words(days.pages))),
    )


def _seen_by_others(document: Document) -> Document:
    """Return a document without the values that only its own page shows: its HTML, the exact number of its words, and
    the places of its links.

    Cells stay whole, because a record or an implementation that names a cell keeps the cell's place.
    """
    slots = tuple(slot if isinstance(slot, CellSlot) else replace(slot, span=_NO_SPAN) for slot in document.slots)
    return replace(document, html="", slots=slots, words=minutes(document.words))
