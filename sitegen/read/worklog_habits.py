"""Find what an author of a worklog may want to mend and a page can bear: `sitegen check` reports it, a build does not.

These are links without a title or with a tracker, days that are missing or lie in the future, and tasks without an
outcome.  All are warnings.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.model.site import WorklogEntry
from sitegen.read.worklog_links import link_habits, titles_of
from sitegen.read.worklog_tasks import forgotten_tasks

_RUN = 3
"""Days in a row on both sides of a gap of one day, which make it probable that the day was forgotten."""
_DAY = dt.timedelta(days=1)


def worklog_habits(entries: Sequence[WorklogEntry], files: Mapping[str, str], as_of: dt.date) -> tuple[Diagnostic, ...]:
    """Return the warnings about a worklog; `files` has its texts by path."""
    titles = {url: title for text in files.values() for url, title in titles_of(text).items()}
    links = (warning for path, text in files.items() for warning in link_habits(text, path, titles))
    past = [entry for entry in entries if entry.date <= as_of]
    return (*links, *_future(entries, as_of), *_missing(past), *forgotten_tasks(past))


def _future(entries: Sequence[WorklogEntry], as_of: dt.date) -> Iterator[Diagnostic]:
    for entry in entries:
        if entry.date > as_of + _DAY:  # it may be tomorrow already where the author is
            hint = f"today is {as_of}; is the year or the month right?"
            yield Diagnostic("SG052", f"{entry.date} is in the future", entry.span, hint, Severity.WARNING)


def _missing(entries: Sequence[WorklogEntry]) -> Iterator[Diagnostic]:
    """Yield a warning for a single day without an entry between two runs, unless that weekday is always free."""
    by_date = {entry.date: entry for entry in entries}
    written = {date.weekday() for date in by_date}
    for date, entry in by_date.items():
        gap = date - _DAY
        around = [gap + _DAY * n for n in range(-_RUN, _RUN + 1) if n]
        if gap not in by_date and gap.weekday() in written and all(day in by_date for day in around):
            hint = f"the days before and after {gap} have one each"
            yield Diagnostic("SG051", f"{gap} has no entry", entry.span, hint, Severity.WARNING)
