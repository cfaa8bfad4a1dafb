"""Find the lines of a worklog that open a day, and their dates.

`12/09/25 (T - 154)` may be 9 December or 12 September.  The order of month and day is the one with which more dates of
the file exist, more of them lead to the same day by date + N, and the days are closer to each other.  The day to which
most of them lead then settles each single line: a line that hits it only in the other order is read in that order.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sitegen.model.dates import in_calendar
from sitegen.read.calendar_words import is_weekday, month_number

_COUNTDOWN = r"[(\[]?\s*[TDJ]\s*(?P<{0}sign>[-+–—−]|minus)\s*(?P<{0}days>\d{{1,5}})(?:\s*(?:days?|d))?\s*[)\]]?"
_WORD = r"[^\W\d_]{3,12}\.?"
_ORDINAL = r"(?:st|nd|rd|th|er|\.|º|ª)?"
_DAY = re.compile(
    rf"""\ {{0,3}}(?P<heading>\#{{1,6}}[ \t]+)?(?:\*\*|__)?
    (?:{_COUNTDOWN.format("before_")}\s*[,:;–—-]?\s*)?
    (?P<weekday>[^\W\d_]{{2,12}}(?=[.,]?\s)[.,]?[ \t]+)?
    (?:(?P<year_first>\d{{4}})(?P<sep>[-/.])(?P<month>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})
      |(?P<cjk_year>\d{{4}})[年년]\s*(?P<cjk_month>\d{{1,2}})[月월]\s*(?P<cjk_day>\d{{1,2}})[日일]
      |(?P<first>\d{{1,2}})\s?[/.-]\s?(?P<second>\d{{1,2}})\s?[/.-]\s?(?P<year>\d{{4}}|\d{{2}})
      |(?P<named_day>\d{{1,2}}){_ORDINAL}\s+(?:de\s+)?(?P<named_month>{_WORD}),?\s+(?:de\s+)?(?P<named_year>\d{{4}})
      |(?P<us_month>{_WORD})\s+(?P<us_day>\d{{1,2}}){_ORDINAL},?\s+(?P<us_year>\d{{4}}))(?:\*\*|__)?
    (?P<weekday_after>\s*[,(\[]?\s*[^\W\d_]{{2,12}}\.?\s*[)\]]?(?=\s|$|[:;*_]))?
    (?:\s*[,:;–—-]?\s*{_COUNTDOWN.format("")})?
    (?:\*\*|__)?(?P<rest>[ \t]*[:;]?[ \t]*\#*[ \t]*|[ \t]*(?:[-–—:|·;][ \t]+|[ \t]).*)""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^( {0,3}#{1,6}[ \t]+)([^\W\d_]{1,12}[ \t]+\d{1,4})[ \t]*[(\[](\d{4}([-/.])\d{1,2}\4\d{1,2})[)\]][ \t]*$"
)
"""A heading such as `## Day 6 (2024-05-06)`: its words become the title behind the date."""
_TITLE = re.compile(r"[ \t]*[-–—:|·;]?[ \t]*(?P<title>.*?)[ \t]*\#*[ \t]*")
_LOOKS_DATED = re.compile(r"\d{4}|\d\s?[/.-]\s?\d{1,2}\s?[/.-]\s?\d{2}")
_OPENING = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(?P<fence>`{3,}|~{3,})[^\n]*\n|<!--", re.MULTILINE)
_HIDING = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(?:`{3,}|~{3,}).*$|<!--|-->", re.MULTILINE)
"""The lines and marks between which text may be hidden."""
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_ANOTHER_GOAL = 3
"""Entries in a row that lead to one day other than that of most entries: they count down to another goal."""


@dataclass(frozen=True, slots=True)
class DateLine:
    """A line that opens a day: a date, perhaps `T - N`, and in a heading perhaps a title."""

    index: int
    """Number of the line, counted from 0."""
    text: str
    numbers: tuple[int, int, int]
    """Numbers as written: two numbers and the year, or month, day and year of a date that has only one reading."""
    certain: bool
    """True when the date has only one reading: the year comes first, or the month has a name."""
    days_left: int | None
    title: str = ""
    """Words of the heading after the date, with the `#` before them."""
    date: dt.date | None = None
    """None when the calendar has no such day."""

    @property
    def goal(self) -> dt.date | None:
        """The day that the countdown leads to, date + N; None without a countdown."""
        return _goal(self)


@dataclass(frozen=True, slots=True)
class DateLines:
    """All date lines of a text."""

    lines: tuple[DateLine, ...]
    ambiguous: bool = False
    """True when nothing in the text tells whether the month or the day comes first."""
    day_first: bool = False


def visible_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (index from 0, line) outside of fenced code and comments; a fence that is never closed hides nothing."""
    hidden: set[int] = set()
    line, counted = 0, 0
    for start, end in _hidden_blocks(text):
        line += text.count("\n", counted, start)
        counted = start
        hidden.update(range(line, line + text.count("\n", start, end) + 1))
    yield from ((index, line) for index, line in enumerate(text.split("\n")) if index not in hidden)


def _hidden_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where fenced code and comments start and end.  What is never closed is looked for only once."""
    at, unclosed = 0, set[str]()
    while opening := _OPENING.search(text, at):
        at, fence = opening.end(), opening["fence"] or ""
        if fence in unclosed:
            continue
        closing = re.compile(rf"^[ \t]*{fence}[`~]*[ \t]*$" if fence else "-->", re.MULTILINE).search(text, at)
        if closing:
            at = closing.end()
            yield opening.start(), at
        else:
            unclosed.add(fence)


def without_code(line: str) -> str:
    """Return a line with spaces in place of the code between backticks, so that columns stay."""
    return _CODE.sub(lambda match: " " * len(match[0]), line)


def find_days(text: str) -> DateLines:
    """Return the lines that open a day, with their dates."""
    lines = tuple(_date_lines(text))
    month_first = tuple(_dated(line, _month_first) for line in lines)
    day_first = tuple(_dated(line, _day_first) for line in lines)
    left, right = _plausibility(month_first), _plausibility(day_first)
    open_question = left == right and any(a.date != b.date for a, b in zip(month_first, day_first, strict=True))
    chosen, other = (day_first, month_first) if right > left else (month_first, day_first)
    return DateLines(_settled(chosen, other), open_question, right > left)


def keeps_days(old: str, new: str, *, is_last: bool) -> bool:
    """Tell whether the same lines of a diary surely open its days when the text of one day is replaced.

    It is so when no line of both texts could open a day, their fences and comments are the same, and the line above the
    next day is blank in both or in none.
    """
    could_open = any(map(_could_open, (*old.split("\n"), *new.split("\n"))))
    same_end = is_last or _ends_blank(old) == _ends_blank(new)
    return not could_open and same_end and _HIDING.findall(old) == _HIDING.findall(new)


def _could_open(line: str) -> bool:
    match = _match_day(line)
    return match is not None and _opens_a_day(match)


def _ends_blank(text: str) -> bool:
    last = text.split("\n")[-2:-1]
    return bool(last) and not last[0].strip()


def common_goal(days: Iterable[DateLine]) -> dt.date | None:
    """Return the day to which most countdowns lead; None when no two lead to the same day."""
    goals = Counter(goal for day in days if (goal := _goal(day)))
    goal, times = goals.most_common(1)[0] if goals else (None, 0)
    return goal if times > 1 else None


def wrong_countdowns(days: Iterable[DateLine]) -> Iterator[tuple[DateLine, dt.date, int]]:
    """Yield the lines whose `T - N` leads to another day than most: (line, the day of most lines, the N for it).

    A few entries in a row that agree with each other count down to another goal, and are not wrong.
    """
    counted = [day for day in days if _goal(day)]
    goal, runs = common_goal(counted), _lengths_of_runs(counted)
    for day, length in zip(counted, runs, strict=True):
        if goal and day.date and day.goal != goal and length < _ANOTHER_GOAL:
            yield day, goal, (goal - day.date).days


def _lengths_of_runs(days: Sequence[DateLine]) -> list[int]:
    """Return for each day the number of days in a row, itself included, that lead to the same goal."""
    ends = [at for at, (a, b) in enumerate(pairwise(days), 1) if a.goal != b.goal]
    bounds = list(pairwise([0, *ends, len(days)])) if days else []
    return [end - start for start, end in bounds for _ in range(start, end)]


def _settled(chosen: tuple[DateLine, ...], other: tuple[DateLine, ...]) -> tuple[DateLine, ...]:
    """Return the chosen readings, but the other one of each line that leads to the common goal only in that one."""
    goal = common_goal(chosen)
    return tuple(b if goal and a.goal != goal and b.goal == goal else a for a, b in zip(chosen, other, strict=True))


def _date_lines(text: str) -> Iterator[DateLine]:
    lines = text.split("\n")
    for index, line in visible_lines(text):
        match = _match_day(line)
        if match is None or not _opens_a_day(match):
            continue
        counted = match["days"] or match["before_days"]
        if match["heading"] or counted or index == 0 or not lines[index - 1].strip():
            yield _date_line(index, line, match)


def _match_day(line: str) -> re.Match[str] | None:
    if len(line) >= 200 or not _LOOKS_DATED.search(line):
        return None
    return _DAY.fullmatch(_NUMBERED.sub(r"\1\3 \2", line))


def _opens_a_day(match: re.Match[str]) -> bool:
    """Tell whether the words around a date are those of a heading, and not of a sentence."""
    if (before := match["weekday"]) and not is_weekday(before.strip(" \t,")):
        return False
    if not match["heading"] and match["weekday_after"] and not _is_weekday_after(match):
        return False
    months = [word for word in (match["named_month"], match["us_month"]) if word]
    if not all(map(month_number, months)):
        return False
    return bool(match["heading"]) or not match["rest"].strip(" \t:;#")


def _is_weekday_after(match: re.Match[str]) -> bool:
    return is_weekday((match["weekday_after"] or "").strip(" \t,()[]"))


def _date_line(index: int, line: str, match: re.Match[str]) -> DateLine:
    days, sign = (match["days"], match["sign"]) if match["days"] else (match["before_days"], match["before_sign"])
    left = int(days) * (-1 if sign == "+" else 1) if days else None
    numbers, certain = _numbers(match)
    after = "" if _is_weekday_after(match) else match["weekday_after"] or ""
    title = _TITLE.fullmatch(after + match["rest"])
    words = title["title"] if title else ""
    shown = f"{match['heading'].strip()} {words}" if words and match["heading"] else ""
    return DateLine(index, line, numbers, certain, left, shown)


def _numbers(match: re.Match[str]) -> tuple[tuple[int, int, int], bool]:
    """Return the three numbers of a date, and whether they have only one reading."""
    if match["year_first"]:
        return (int(match["month"]), int(match["day"]), int(match["year_first"])), True
    if match["cjk_year"]:
        return (int(match["cjk_month"]), int(match["cjk_day"]), int(match["cjk_year"])), True
    for prefix in ("named", "us"):
        if name := match[f"{prefix}_month"]:
            return (month_number(name) or 0, int(match[f"{prefix}_day"]), int(match[f"{prefix}_year"])), True
    year = int(match["year"]) + (2000 if len(match["year"]) == 2 else 0)
    return (int(match["first"]), int(match["second"]), year), False


def _dated(line: DateLine, order: Callable[[int, int, int], dt.date]) -> DateLine:
    try:
        return replace(line, date=in_calendar((_month_first if line.certain else order)(*line.numbers)))
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
