"""Print the weeks, months and years of a worklog: what was done in each, with a link to every day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from sitegen.model.dates import periods_of
from sitegen.model.site import TaskState, WorklogEntry
from sitegen.model.urls import WORKLOG, period_url, relative
from sitegen.render.pages.worklog import DayLine, Month, day_line, month_title, month_view, plain_line
from sitegen.render.pages.worklog_heat import HeatMap, heat_maps
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.structured import About
from sitegen.render.texts.day_summaries import word_sum


@dataclass(frozen=True, slots=True)
class MonthLine:
    iso: str
    """`2026-11`"""
    title: str
    href: str
    days: str
    word_sum: Markup
    done: str
    """`3 tasks done`; empty without any."""


@dataclass(frozen=True, slots=True)
class PeriodPage:
    title: str
    written: str
    """`3 days`"""
    word_sum: Markup
    tasks_done: str
    """`3 tasks done`; empty without any."""
    within: tuple[Link, ...]
    """The longer periods that it is a part of, and the shorter ones that are a part of it."""
    maps: tuple[HeatMap, ...]
    """The heat maps of a year; empty for a shorter period."""
    calendar: Month | None
    """The days of a month; None for another period."""
    months: tuple[MonthLine, ...]
    """The months of a year."""
    days: tuple[DayLine, ...]
    """The days of a week or a month, newest first."""
    done: tuple[str, ...]
    """The tasks that were done in a week."""
    worklog: str
    stylesheet: str
    previous: Link | None
    next: Link | None


def period_page(printer: Printer, period: str, before: str, after: str) -> tuple[str, str]:
    """Return the page of a period; `before` and `after` are the written periods beside it, empty when there is none."""
    sources, here = printer.sources, period_url(period)
    entries = sources.days_of_period[period]
    first, is_year, is_week = entries[-1].date, len(period) == 4, "w" in period
    page = PeriodPage(
        title=title_of(period),
        written=numbers.count(len(entries), "day"),
        word_sum=_word_sum(printer, period, entries),
        tasks_done=_tasks_done(entries),
        within=tuple(_link(one, here) for one in _around(period, entries)),
        maps=heat_maps(sources, first, entries[0].date, 53, period) if is_year else (),
        calendar=None if is_year or is_week else month_view(sources, first, None, here),
        months=_months(printer, entries, here) if is_year else (),
        days=() if is_year else tuple(day_line(printer, entry, here) for entry in entries),
        done=_done(entries) if is_week else (),
        worklog=relative(WORKLOG, here),
        stylesheet=relative(sources.assets["worklog.css"], here),
        previous=_link(before, here) if before else None,
        next=_link(after, here) if after else None,
    )
    summary = ", ".join(filter(None, (page.written, page.tasks_done)))
    title, description = f"{page.title}, worklog", f"The worklog of {page.title}: {summary}."
    about = About(("CollectionPage",))
    return printer.page("period.html", here, page, title=title, description=description, section=WORKLOG, about=about)


def title_of(period: str) -> str:
    """Return the name of a period for readers: `Week 48 of 2026`, `November 2026`, `2026`."""
    year, _, part = period.partition("-")
    if part.startswith("w"):
        return f"Week {int(part[1:])} of {year}"
    return month_title(dt.date(int(year), int(part), 1)) if part else year


def _link(period: str, here: str) -> Link:
    return Link(title_of(period), relative(period_url(period), here))


def _around(period: str, entries: Sequence[WorklogEntry]) -> list[str]:
    """Return the written periods that share days with one, the longest first; a year lists its months elsewhere."""
    kinds = zip(*(periods_of(entry.date) for entry in reversed(entries)), strict=True)
    years, months, weeks = (tuple(dict.fromkeys(kind)) for kind in kinds)
    shown = () if len(period) == 4 else (*years, *(months if "w" in period else weeks))
    return [one for one in shown if one != period]


def _word_sum(printer: Printer, period: str, entries: Sequence[WorklogEntry]) -> Markup:
    return word_sum(period, sum(printer.sources.words_by_day[entry.date] for entry in entries))


def _tasks_done(entries: Sequence[WorklogEntry]) -> str:
    done = sum(task.state is TaskState.DONE for entry in entries for task in entry.tasks)
    return f"{numbers.count(done, 'task')} done" if done else ""


def _months(printer: Printer, entries: Sequence[WorklogEntry], here: str) -> tuple[MonthLine, ...]:
    months = groupby(entries, lambda entry: periods_of(entry.date)[1])
    return tuple(_month(printer, month, tuple(days), here) for month, days in months)


def _month(printer: Printer, month: str, entries: Sequence[WorklogEntry], here: str) -> MonthLine:
    return MonthLine(
        iso=month,
        title=title_of(month),
        href=relative(period_url(month), here),
        days=numbers.count(len(entries), "day"),
        word_sum=_word_sum(printer, month, entries),
        done=_tasks_done(entries),
    )


def _done(entries: Sequence[WorklogEntry]) -> tuple[str, ...]:
    """Return the tasks that ended in a period, oldest first, each once."""
    tasks = (task for entry in reversed(entries) for task in entry.tasks if task.state is TaskState.DONE)
    return tuple(dict.fromkeys(plain_line(task.text) for task in tasks))
