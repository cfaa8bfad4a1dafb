"""Patch the sums of words on the pages of weeks, months and years, after an edit of days."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sitegen import inside
from sitegen.model.dates import periods_of
from sitegen.model.urls import output_path, period_url
from sitegen.pipeline.build_state import BuildState
from sitegen.pipeline.patchable_days import PatchableDay, PatchableDays
from sitegen.pipeline.request import BuildRequest
from sitegen.render.texts.day_summaries import word_sum


def patch_word_sums(
    request: BuildRequest,
    previous: BuildState,
    before: PatchableDays,
    now: PatchableDays,
    days: Collection[PatchableDay],
) -> dict[str, bytes] | None:
    """Return the pages that show the words of edited days in a sum, by output path; `days` are those days.

    None when a page does not show a sum exactly once.
    """
    shown, pages = {pair for day in days for pair in _places(day)}, dict[str, str]()
    dates = {day.date for day in days}
    old, new = before.word_sums(dates), now.word_sums(dates)
    for path, period in sorted(pair for pair in shown if old[pair[1]] != new[pair[1]]):
        sheet = previous.sheets.get(path)
        if sheet is None or sheet.files != (path,):
            return None
        html = pages.get(path) or inside.read_bytes(request.output, path).decode()
        written = str(word_sum(period, old[period]))
        if html.count(written) != 1:
            return None
        pages[path] = html.replace(written, str(word_sum(period, new[period])))
    return {path: html.encode() for path, html in pages.items()}


def _places(day: PatchableDay) -> Iterator[tuple[str, str]]:
    """Yield (output path, period) of each sum with the words of a day; the page of a year has those of its months."""
    year, month, week = periods_of(day.date)
    for page, period in ((year, year), (year, month), (month, month), (week, week)):
        yield output_path(period_url(page)), period
