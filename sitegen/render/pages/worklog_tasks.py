"""Print the list of all tasks of the worklog with their history: first the open ones, then those that ended last."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from sitegen.model.urls import TASKS, day_url, relative
from sitegen.read.worklog_tasks import TaskEvent, TaskThread
from sitegen.render.pages.worklog import STATES, plain_line
from sitegen.render.pages.worklog_groups import Group, GroupedList, print_groups
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer


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


def task_list(printer: Printer, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of all tasks."""
    history, last = printer.sources.task_history, printer.sources.site.worklog[0].date
    counts = f"{len(history.open_now)} open, {len(history.ended)} ended"
    listed = GroupedList(
        url=TASKS,
        template="tasks.html",
        title="Tasks",
        description="Every task of the worklog, and how it went from day to day.",
        summary=f"{counts}; days are counted to {numbers.day(last)}.",
        groups=(Group("Open", "", history.open_now), Group("Ended", "", history.ended[::-1])),
    )
    return print_groups(printer, listed, number, lambda thread, here: _row(thread, last, here))


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
