"""Keep the days of a worklog, so that the next build can tell whether an edit of one day changes pages of others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path

from sitegen.linking.mentions import NamedPage, pages_with_names
from sitegen.model.dates import periods_of
from sitegen.model.linked import Mention, document_key
from sitegen.model.site import Markdown, Site, WorklogEntry
from sitegen.write import cache

_YEAR = 366
"""The most days between two days of one year."""


@dataclass(frozen=True, slots=True)
class PatchableDay:
    """A day of the last build."""

    ordinal: int
    """The ordinal of its date."""
    days_left: int | None
    path: str
    first_line: int
    """The line of the file on which `text` begins."""
    name: str
    """The name of its Markdown."""
    words: int
    """The number of words that sums count, at least 1."""
    title: str
    """The title beside the date, as the first line of the day's Markdown; may be empty."""
    text: str
    """The day's Markdown below the title, as it stands in the file."""

    @property
    def date(self) -> dt.date:
        return dt.date.fromordinal(self.ordinal)

    @property
    def body(self) -> Markdown:
        return Markdown(self.title + self.text, self.path, self.first_line - bool(self.title), self.name)


_values = attrgetter(*(one.name for one in fields(PatchableDay)))
"""Returns the values of a day as a tuple."""


@dataclass(frozen=True, slots=True)
class PatchableDays:
    """The days of the last build, and what their words may name."""

    days: Mapping[str, PatchableDay]
    """The days by `document_key`, newest first."""
    tasks: tuple[str, ...]
    """The texts of all tasks."""
    pages: tuple[NamedPage, ...]
    """The pages that a day can mention."""

    def of_file(self, path: str) -> tuple[PatchableDay, ...]:
        """Return the days of a file in the order of their lines."""
        here = (day for day in self.days.values() if day.path == path)
        return tuple(sorted(here, key=lambda day: day.first_line))

    def with_day(self, now: PatchableDay) -> PatchableDays:
        """Return the same with a new text of a day; the days below it in its file move."""
        key = document_key(now.body)
        lines = now.text.count("\n") - self.days[key].text.count("\n")
        moved = {key: _moved(day, now, lines) for key, day in self.days.items()} if lines else self.days
        return replace(self, days={**moved, key: now})

    def word_sums(self, dates: Collection[dt.date]) -> Mapping[str, int]:
        """Return the number of words of the year, the month and the week of each date."""
        sums = {period: 0 for date in dates for period in periods_of(date)}
        ordinals = [date.toordinal() for date in dates]
        first, last = min(ordinals) - _YEAR, max(ordinals) + _YEAR
        for day in self.days.values():
            if first <= day.ordinal <= last:
                for period in sums.keys() & periods_of(day.date):
                    sums[period] += day.words
        return sums


def days_of(site: Site, words_by_day: Mapping[dt.date, int]) -> PatchableDays:
    """Return the days of a site's worklog."""
    days = {document_key(entry.body): _day(entry, words_by_day[entry.date]) for entry in site.worklog}
    tasks = dict.fromkeys(task.text for entry in site.worklog for task in entry.tasks)
    return PatchableDays(days, tuple(tasks), tuple(pages_with_names(site)))


def load_patchable_days(state_file: Path, version: bytes) -> PatchableDays:
    """Return the days of the output whose state is in that file."""
    days, tasks, pages = cache.load(_beside(state_file), version) or ({}, (), ())
    named = tuple((name, Mention(*page), only_code) for name, page, only_code in pages)
    return PatchableDays({key: PatchableDay(*day) for key, day in days.items()}, tasks, named)


def save_patchable_days(state_file: Path, version: bytes, days: PatchableDays) -> None:
    """Write the days as plain values."""
    plain = {key: _values(day) for key, day in days.days.items()}
    pages = [(name, (page.kind, page.title, page.url), only_code) for name, page, only_code in days.pages]
    cache.save(_beside(state_file), version, (plain, days.tasks, pages))


def _beside(state_file: Path) -> Path:
    return state_file.with_suffix(".days")


def _day(entry: WorklogEntry, words: int) -> PatchableDay:
    body = entry.body
    has_title = bool(body.name) and entry.span.line == body.first_line
    title, text = body.text[: body.text.index("\n") + 1] if has_title else "", body.text
    return PatchableDay(
        ordinal=entry.date.toordinal(),
        days_left=entry.days_left,
        path=body.path,
        first_line=body.first_line + has_title,
        name=body.name,
        words=words,
        title=title,
        text=text.removeprefix(title),
    )


def _moved(day: PatchableDay, edited: PatchableDay, lines: int) -> PatchableDay:
    below = day.path == edited.path and day.first_line > edited.first_line
    return replace(day, first_line=day.first_line + lines) if below else day
