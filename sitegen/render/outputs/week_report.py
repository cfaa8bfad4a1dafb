"""Turn a week of the worklog into a report in Markdown: what was done, read, asked and measured, and what is open."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sitegen.model.dates import periods_of
from sitegen.model.linked import Linked
from sitegen.model.site import TaskState
from sitegen.read.reading_list import Reading, ReadingItem, reading_list
from sitegen.read.worklog_tasks import TaskThread, task_history
from sitegen.render.measurements.worklog_runs import runs_of_day
from sitegen.render.shared import numbers

if TYPE_CHECKING:
    from sitegen.results.records import Records


def week_report(linked: Linked, records: Records, day: dt.date, commits: Sequence[str] = ()) -> str:
    """Return the report of the week of ISO 8601 that has `day`; `commits` are lines of text."""
    monday = day - dt.timedelta(days=day.weekday())
    days = [monday + dt.timedelta(days=n) for n in range(7)]
    entries = [entry for entry in linked.site.worklog if entry.date in days]
    history = task_history([entry for entry in linked.site.worklog if entry.date <= days[-1]])
    last = max((entry.date for entry in entries), default=monday)
    ended = [thread for thread in history.ended if thread.events[-1].date >= monday]
    parts = {
        "Done": [thread.text for thread in ended if thread.state is TaskState.DONE],
        "Dropped": [thread.text for thread in ended if thread.state is TaskState.DROPPED],
        "Open": [_open(thread, last) for thread in history.open_now if thread.was_mentioned_lately(last)],
        "Links": list(map(_link, reading_list(entries))),
        "Asked": [question for entry in reversed(entries) for question, _ in entry.questions],
        "Worked on": _worked_on(linked, days),
        "Measured": [
            f"{run.kernel} on {run.gpu}, {numbers.day(date)}: {run.figures}"
            for date in days
            for run in runs_of_day(linked.site, records, date)
        ],
        "Commits": commits,
    }
    lists = (f"## {title}\n\n" + "".join(f"- {line}\n" for line in lines) for title, lines in parts.items() if lines)
    year, week = periods_of(day)[2].split("-w")
    written = numbers.count(len(entries), "day")
    report = "\n".join([f"# Week {int(week)} of {year}\n\n{written} written, {monday} to {days[-1]}.\n", *lists])
    return report.replace(numbers.NBSP, " ")  # a report is pasted as plain text


def _open(thread: TaskThread, last: dt.date) -> str:
    days = thread.days_open(last)
    return f"{thread.text}, open for {numbers.count(days, 'day')}" if days else thread.text


def _link(item: ReadingItem) -> str:
    said = "" if item.reading is Reading.UNSAID else f", {item.reading}"
    return (f"[{item.title}]({item.url})" if item.title else f"<{item.url}>") + said


def _worked_on(linked: Linked, days: Iterable[dt.date]) -> list[str]:
    """Return the posts, kernels and exercises that these days mention, each with the number of days."""
    found = Counter(one for day in days for one in linked.mentions.get(day, ()) if one.kind != "term")
    return [f"{one.title} ({one.kind}), {numbers.count(times, 'day')}" for one, times in found.items()]
