"""Print the list of all tasks of the worklog with their history: first the open ones, then those that ended last."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from sitegen.model.urls import TASKS, WORKLOG, day_url, list_page_url, relative
from sitegen.read.worklog_tasks import TaskEvent, TaskThread
from sitegen.render.pages.worklog import STATES, plain_line
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.paging import on_page, pages_of
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class Step:
    """An entry that tells how a task stands."""

    word: str
    day: str
    iso: str
    href: str
    note: str
    """`as its words say` when the state was read from words."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    text: str
    state: str
    word: str
    duration: str
    """`open for 6 days`, or `took 6 days`; empty within one day."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class TaskGroup:
    title: str
    rows: tuple[TaskRow, ...]


@dataclass(frozen=True, slots=True)
class TasksPage:
    groups: tuple[TaskGroup, ...]
    summary: str
    worklog: str
    stylesheet: str
    newer: str
    older: str
    number: int
    pages: int


def task_list(printer: Printer, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of all tasks."""
    sources, here = printer.sources, list_page_url(TASKS, number)
    history = sources.task_history
    threads = (*history.open_now, *reversed(history.ended))
    total, shown = pages_of(threads), on_page(threads, number)
    last = sources.site.worklog[0].date
    groups = (
        TaskGroup("Open", tuple(_row(one, last, here) for one in shown if one.is_open)),
        TaskGroup("Ended", tuple(_row(one, last, here) for one in shown if not one.is_open)),
    )
    page = TasksPage(
        groups=tuple(group for group in groups if group.rows),
        summary=f"{len(history.open_now)} open, {len(history.ended)} ended; days are counted to {numbers.day(last)}.",
        worklog=relative(WORKLOG, here),
        stylesheet=relative(sources.assets["worklog.css"], here),
        newer=relative(list_page_url(TASKS, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(TASKS, number + 1), here) if number < total else "",
        number=number,
        pages=total,
    )
    title = "Tasks" if number == 1 else f"Tasks, page {number}"
    description = "Every task of the worklog, and how it went from day to day."
    about = About(("CollectionPage",))
    return printer.page("tasks.html", here, page, title=title, description=description, section=WORKLOG, about=about)


def _row(thread: TaskThread, last: dt.date, here: str) -> TaskRow:
    class_, word = STATES[thread.state]
    days = thread.days_open(last if thread.is_open else thread.events[-1].date)
    duration = f"{'open for' if thread.is_open else 'took'} {numbers.count(days, 'day')}" if days else ""
    return TaskRow(plain_line(thread.text), class_, word, duration, tuple(_steps(thread.events, here)))


def _steps(events: tuple[TaskEvent, ...], here: str) -> Iterator[Step]:
    for event in events:
        note = "as its words say" if event.inferred else ""
        date = event.date
        yield Step(STATES[event.state][1], numbers.day(date), date.isoformat(), relative(day_url(date), here), note)
