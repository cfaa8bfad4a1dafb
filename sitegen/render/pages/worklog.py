"""Print the worklog: a page for each day, with its month, its tasks and its neighbours, and the list of all days."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.words import join_units
from sitegen.model.dates import periods_of
from sitegen.model.linked import document_key
from sitegen.model.site import TaskState, WorklogEntry
from sitegen.model.urls import FEED, LINKS, TASKS, WORKLOG, day_url, kernel_url, list_page_url, period_url, relative
from sitegen.read.worklog_tasks import TaskThread
from sitegen.render.figures.inline_charts import level
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.worklog_runs import DayRun, runs_of_day
from sitegen.render.pages.worklog_heat import HeatMap, heat_maps
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.paging import on_page, pages_of
from sitegen.render.shared.structured import About
from sitegen.render.texts.day_summaries import excerpt
from sitegen.render.texts.filled_slots import Place, fill

STATES = {
    TaskState.OPEN: ("planned", "Open"),
    TaskState.PARTIAL: ("partial", "Partly done"),
    TaskState.DONE: ("done", "Done"),
    TaskState.DROPPED: ("planned", "Dropped"),
}
_MARKED = re.compile(r"(`+)(?P<code>.+?)\1|(?<!\w)([*_]{1,3})(?P<words>\S(?:.*?\S)?)\3(?!\w)")
"""Code, or emphasis.  The underscores within a name are no marks."""
AMOUNTS = ("nothing", "a line", "a few lines", "a page", "a long day")


@dataclass(frozen=True, slots=True)
class CalendarDay:
    number: int
    """The day of the month; 0 for a day of another month."""
    href: str = ""
    label: str = ""
    class_: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class Month:
    title: str
    weeks: tuple[tuple[CalendarDay, ...], ...]


@dataclass(frozen=True, slots=True)
class Days:
    """The number of days before or after a goal, as text: `T − 12`."""

    text: str
    goal: str
    iso: str
    day: str


@dataclass(frozen=True, slots=True)
class TaskLine:
    state: str
    word: str
    text: str
    note: str
    """`open for 6 days`, and whether the state was read from words."""
    since: Link | None
    """The day on which the task was first written, when that is another day."""


@dataclass(frozen=True, slots=True)
class MentionLine:
    kind: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """The measurements of a kernel on a GPU on one day."""

    kernel: str
    href: str
    gpu: str
    record: str
    """The kernel and the GPU, for `data-record`."""
    figures: str
    """`120 times, 4 faster, 1 slower`."""


@dataclass(frozen=True, slots=True)
class DayPage:
    title: str
    iso: str
    body: Markup
    countdown: Days | None
    tasks: tuple[TaskLine, ...]
    """The tasks that are open at the end of the day, also those of earlier days."""
    questions: tuple[str, ...]
    tally: str
    streak: str
    """`12 days in a row`; empty on the first day of a row."""
    mentions: tuple[MentionLine, ...]
    """The posts, kernels, exercises and terms that the day is about."""
    runs: tuple[RunLine, ...]
    worklog: str
    stylesheet: str
    month: Month
    periods: tuple[Link, ...]
    """The week, the month and the year of the day."""
    previous: Link | None
    next: Link | None


@dataclass(frozen=True, slots=True)
class DayLine:
    href: str
    title: str
    iso: str
    tally: str
    excerpt: str
    class_: str


@dataclass(frozen=True, slots=True)
class MonthList:
    title: str
    days: tuple[DayLine, ...]


@dataclass(frozen=True, slots=True)
class WorklogPage:
    intro: Markup
    countdown: Days | None
    maps: tuple[HeatMap, ...]
    """The heat maps of the first page."""
    tasks: str
    """The link to the list of all tasks; empty when the worklog has none."""
    links: str
    """The link to the reading list; empty when the worklog has no links."""
    years: tuple[Link, ...]
    months: tuple[MonthList, ...]
    newer: str
    older: str
    number: int
    pages: int


def countdown(sources: Sources) -> Days | None:
    """Return the days from the day of the build to the goal of the site; None without a goal."""
    goal = sources.config.countdown
    if goal is None:
        return None
    left = (goal.date - sources.as_of).days
    return _days(left, goal.goal, goal.date)


def _days(left: int, goal: str, date: dt.date) -> Days:
    sign = numbers.MINUS if left >= 0 else "+"
    return Days(f"T{numbers.NBSP}{sign}{numbers.NBSP}{abs(left)}", goal, date.isoformat(), numbers.day(date))


def day_line(printer: Printer, entry: WorklogEntry, here: str) -> DayLine:
    document = printer.sources.document(entry.body)
    return DayLine(
        href=relative(day_url(entry.date), here),
        title=numbers.weekday(entry.date),
        iso=entry.date.isoformat(),
        tally=_tally(entry),
        excerpt=printer.of_text(document_key(entry.body), excerpt),
        class_=f"w{level(document.words)}",
    )


def worklog_list(printer: Printer, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of all days."""
    sources, entries, here = printer.sources, printer.sources.site.worklog, list_page_url(WORKLOG, number)
    total, intro = pages_of(entries), sources.site.worklog_intro
    page = WorklogPage(
        intro=fill(printer, sources.document(intro), Place(document_key(intro), here))
        if intro and number == 1
        else Markup(),
        countdown=countdown(sources),
        maps=heat_maps(sources, entries[-1].date, sources.as_of) if number == 1 else (),
        tasks=relative(TASKS, here) if any(entry.tasks for entry in entries) else "",
        links=relative(LINKS, here) if sources.reading_list else "",
        years=_years(entries, here),
        months=_months(printer, on_page(entries, number), here),
        newer=relative(list_page_url(WORKLOG, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(WORKLOG, number + 1), here) if number < total else "",
        number=number,
        pages=total,
    )
    title = "Worklog" if number == 1 else f"Worklog, page {number}"
    description = "What was done each day, unpolished."
    fed = "worklog" in sources.config.feeds
    about = About(
        ("CollectionPage",), feed=(f"{sources.config.title}: Worklog", f"{WORKLOG}{FEED}") if fed else ("", "")
    )
    return printer.page("worklog.html", here, page, title=title, description=description, section=WORKLOG, about=about)


def _years(entries: Sequence[WorklogEntry], here: str) -> tuple[Link, ...]:
    years = dict.fromkeys(str(entry.date.year) for entry in entries)
    return tuple(Link(year, relative(period_url(year), here)) for year in years)


def _months(printer: Printer, entries: Sequence[WorklogEntry], here: str) -> tuple[MonthList, ...]:
    titles = dict.fromkeys(month_title(entry.date) for entry in entries)
    return tuple(
        MonthList(title, tuple(day_line(printer, e, here) for e in entries if month_title(e.date) == title))
        for title in titles
    )


def month_title(date: dt.date) -> str:
    """Return `November 2026`."""
    return f"{numbers.MONTHS[date.month - 1]} {date.year}"


def day_page(printer: Printer, at: int) -> tuple[str, str]:
    sources, entries = printer.sources, printer.sources.site.worklog
    entry, here = entries[at], day_url(entries[at].date)
    document = sources.document(entry.body)
    page = DayPage(
        title=numbers.weekday(entry.date),
        iso=entry.date.isoformat(),
        body=fill(printer, document, Place(document_key(entry.body), here)),
        countdown=_day_countdown(sources, entry),
        tasks=tuple(_task(thread, entry.date, here) for thread in sources.task_history.open_by_day[entry.date]),
        questions=tuple(plain_line(question) for question, _ in entry.questions),
        tally=_tally(entry),
        streak=f"{row} days in a row" if (row := sources.days_in_a_row[entry.date]) > 1 else "",
        mentions=tuple(
            MentionLine(one.kind, one.title, relative(one.url, here))
            for one in sources.linked.mentions.get(entry.date, ())
        ),
        runs=_runs(sources, entry.date, here),
        worklog=relative(WORKLOG, here),
        stylesheet=relative(sources.assets["worklog.css"], here),
        month=month_view(sources, entry.date, entry.date, here),
        periods=tuple(Link(word, relative(period_url(period), here)) for word, period in _periods(entry.date)),
        previous=_link(entries[at + 1], here) if at + 1 < len(entries) else None,
        next=_link(entries[at - 1], here) if at else None,
    )
    title, words = f"{numbers.day(entry.date)}, worklog", printer.of_text(document_key(entry.body), excerpt)
    about = About(("BlogPosting",), published=entry.date.isoformat())
    return printer.page("day.html", here, page, title=title, description=words, section=WORKLOG, about=about)


def _runs(sources: Sources, date: dt.date, here: str) -> tuple[RunLine, ...]:
    if not sources.site.kernels:  # the page of a site without kernels depends on no record
        return ()
    runs = runs_of_day(sources.site, sources.evidence.records, date)
    return tuple(_run(run, relative(kernel_url(run.kernel), here)) for run in runs)


def _run(run: DayRun, href: str) -> RunLine:
    return RunLine(run.kernel, href, run.gpu, f"{run.kernel} {run.gpu}", run.figures)


def _link(entry: WorklogEntry, here: str) -> Link:
    return Link(numbers.weekday(entry.date), relative(day_url(entry.date), here))


def _day_countdown(sources: Sources, entry: WorklogEntry) -> Days | None:
    """Return the countdown as it was written that day, else as it is counted from that day."""
    goal = sources.config.countdown
    if entry.days_left is not None:
        same = goal is not None and (goal.date - entry.date).days == entry.days_left
        date = entry.date + dt.timedelta(days=entry.days_left)
        return _days(entry.days_left, goal.goal if goal and same else "", date)
    return _days((goal.date - entry.date).days, goal.goal, goal.date) if goal else None


def _task(thread: TaskThread, date: dt.date, here: str) -> TaskLine:
    class_, word = STATES[thread.state]
    first, days = thread.events[0].date, thread.days_open(date)
    notes = [f"open for {numbers.count(days, 'day')}"] if days else []
    notes += ["as its words say"] if thread.events[-1].inferred else []
    since = Link(numbers.day(first), relative(day_url(first), here)) if days else None
    return TaskLine(class_, word, plain_line(thread.text), ", ".join(notes), since)


def plain_line(markdown: str) -> str:
    """Return a line of Markdown as plain text, without the targets of links and the marks of emphasis, and with units
    joined to their numbers, for a list beside the text.
    """
    linked = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return join_units(_without_marks(linked).strip())


def _without_marks(text: str) -> str:
    return _MARKED.sub(lambda found: found["code"] or _without_marks(found["words"]), text)


def _tally(entry: WorklogEntry) -> str:
    """Return the number of tasks that are done: `2 of 5 tasks done`; empty without tasks."""
    done = sum(1 for task in entry.tasks if task.state is TaskState.DONE)
    return f"{done} of {numbers.count(len(entry.tasks), 'task')} done" if entry.tasks else ""


def _periods(date: dt.date) -> Iterator[tuple[str, str]]:
    """Yield (words, period) of the week, the month and the year of a day."""
    year, month, week = periods_of(date)
    yield f"Week {int(week[-2:])}", week
    yield month_title(date), month
    yield year, year


def month_view(sources: Sources, date: dt.date, current: dt.date | None, here: str) -> Month:
    """Return the calendar of the month of a date; `current` is the day that the page shows."""
    words = sources.words_by_day
    weeks = calendar.Calendar().monthdatescalendar(date.year, date.month)
    rows = tuple(tuple(_calendar_day(day, date.month, words, here, current) for day in week) for week in weeks)
    return Month(month_title(date), rows)


def _calendar_day(
    day: dt.date, month: int, words: Mapping[dt.date, int], here: str, current: dt.date | None
) -> CalendarDay:
    if day.month != month:
        return CalendarDay(0)
    if day not in words:
        return CalendarDay(day.day)
    amount = level(words[day])
    label = f"{day.day} {numbers.MONTHS[day.month - 1]}, {AMOUNTS[amount]}"
    return CalendarDay(day.day, relative(day_url(day), here), label, f"w{amount}", day == current)
