"""Find the lines of a worklog that open a day, and their dates.

`12/09/25 (T - 154)` may be 9 December or 12 September.  The order of month and day is the one with which more dates of
the file exist, more of them lead to the same day by date + N, and the days are closer to each other.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

_DAY = re.compile(
    r"""\ {0,3}(?P<heading>\#{1,6}[ \t]+)?(?:\*\*|__)?
    (?:(?P<iso>\d{4}-\d{1,2}-\d{1,2})|(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-](?P<year>\d{4}|\d{2}))(?:\*\*|__)?
    (?P<left>\s*[(\[]?\s*T\s*(?P<sign>[-+–—−])\s*(?P<days>\d{1,5})(?:\s+days?)?\s*[)\]]?)?
    (?:\*\*|__)?[ \t]*[:;]?[ \t]*\#*[ \t]*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_HIDDEN = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ \t]*(?P=fence)[`~]*[ \t]*$|<!--.*?-->",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DateLine:
    """A line with nothing but a date and perhaps `T - N`."""

    index: int
    """Number of the line, counted from 0."""
    text: str
    numbers: tuple[int, int, int]
    """Numbers as written: two numbers and the year, or month, day and year of an ISO date."""
    iso: bool
    days_left: int | None
    date: dt.date | None = None
    """None when the calendar has no such day."""


@dataclass(frozen=True, slots=True)
class DateLines:
    """All date lines of a text."""

    lines: tuple[DateLine, ...]
    ambiguous: bool = False
    """True when nothing in the text tells whether the month or the day comes first."""


def visible_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (index from 0, line) outside of fenced code and comments; a fence that is never closed hides nothing."""
    hidden: set[int] = set()
    for block in _HIDDEN.finditer(text):
        start = text.count("\n", 0, block.start())
        hidden.update(range(start, start + block[0].count("\n") + 1))
    yield from ((index, line) for index, line in enumerate(text.split("\n")) if index not in hidden)


def find_days(text: str) -> DateLines:
    """Return the lines that open a day, with their dates."""
    lines = tuple(_date_lines(text))
    month_first = tuple(_dated(line, _month_first) for line in lines)
    day_first = tuple(_dated(line, _day_first) for line in lines)
    left, right = _plausibility(month_first), _plausibility(day_first)
    open_question = left == right and any(a.date != b.date for a, b in zip(month_first, day_first, strict=True))
    return DateLines(day_first if right > left else month_first, open_question)


def wrong_countdowns(days: Iterable[DateLine]) -> Iterator[tuple[DateLine, dt.date, int]]:
    """Yield the lines whose `T - N` leads to another day than most: (line, the day of most lines, the N for it)."""
    counted = [day for day in days if _goal(day)]
    goals = Counter(_goal(day) for day in counted)
    goal, times = goals.most_common(1)[0] if goals else (None, 0)
    for day in counted:
        if goal and day.date and times > 1 and goals[_goal(day)] == 1:
            yield day, goal, (goal - day.date).days


def _date_lines(text: str) -> Iterator[DateLine]:
    lines = text.split("\n")
    for index, line in visible_lines(text):
        match = _DAY.fullmatch(line)
        if match and (match["heading"] or match["left"] or index == 0 or not lines[index - 1].strip()):
            yield _date_line(index, line, match)


def _date_line(index: int, line: str, match: re.Match[str]) -> DateLine:
    left = int(match["days"]) * (-1 if match["sign"] == "+" else 1) if match["days"] else None
    if match["iso"]:
        year, month, day = (int(part) for part in match["iso"].split("-"))
        return DateLine(index, line, (month, day, year), True, left)
    year = int(match["year"]) + (2000 if len(match["year"]) == 2 else 0)
    return DateLine(index, line, (int(match["first"]), int(match["second"]), year), False, left)


def _dated(line: DateLine, order: Callable[[int, int, int], dt.date]) -> DateLine:
    try:
        return replace(line, date=(_month_first if line.iso else order)(*line.numbers))
    except ValueError:
        return line


def _month_first(first: int, second: int, year: int) -> dt.date:
    return dt.date(year, first, second)


def _day_first(first: int, second: int, year: int) -> dt.date:
    return dt.date(year, second, first)


def _plausibility(days: tuple[DateLine, ...]) -> tuple[int, int, int]:
    """Return the number of dates that exist, the number that lead to the same day, and minus the days they span."""
    dates = [day.date for day in days if day.date]
    agreeing = max(Counter(goal for day in days if (goal := _goal(day))).values(), default=0)
    spread = (max(dates) - min(dates)).days if dates else 0
    return len(dates), agreeing, -spread


def _goal(day: DateLine) -> dt.date | None:
    if day.date is None or day.days_left is None:
        return None
    try:
        return day.date + dt.timedelta(days=day.days_left)
    except OverflowError:
        return None
