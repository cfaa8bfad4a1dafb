"""Follow the tasks of a worklog from day to day: the same task, its states, and for how long it has been open.

Two lines are one task when their words are nearly the same.  A sentence such as "Coded the scan" closes the task "code
the scan" when it names every word of it.  That is an inference, and each event says so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.site import Task, TaskState, WorklogEntry
from sitegen.read.worklog_days import visible_lines

FORGOTTEN_AFTER_DAYS = 7
"""Days without a word about an open task after which it counts as forgotten."""
MENTIONED_DAYS = 31
"""Days after its last mention for which the pages still show an open task."""
_ALIKE = 0.6
_STEM = 4
_WORD = re.compile(r"[^\W_]{3,}")
_FILLERS = frozenset(
    {"the", "and", "for", "with", "this", "that", "will", "need", "have", "from", "tmr", "tomorrow", "next", "done"}
    | {"not", "now", "then", "also", "some"}
)
_PAST = re.compile(r"(?:[A-Z][a-z]+ed|Wrote|Read|Made|Sent|Ran|Did|Built|Done)\b")
_ENDED = (TaskState.DONE, TaskState.DROPPED)


@dataclass(frozen=True, slots=True)
class TaskEvent:
    """A line that says how a task stands."""

    date: dt.date
    state: TaskState
    span: Span
    inferred: bool


@dataclass(frozen=True, slots=True)
class TaskThread:
    """A task with everything that was written of it, oldest first."""

    text: str
    events: tuple[TaskEvent, ...]

    @property
    def state(self) -> TaskState:
        return self.events[-1].state

    @property
    def is_open(self) -> bool:
        return self.state not in _ENDED

    def days_open(self, date: dt.date) -> int:
        """Return the days from the first mention to a date."""
        return (date - self.events[0].date).days

    def was_mentioned_lately(self, date: dt.date) -> bool:
        """Tell whether its last mention is at most `MENTIONED_DAYS` before a date."""
        return (date - self.events[-1].date).days <= MENTIONED_DAYS


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """All tasks of a worklog."""

    open_by_day: Mapping[dt.date, tuple[TaskThread, ...]]
    """The tasks that are open at the end of each day with an entry, as they stood then."""
    ended: tuple[TaskThread, ...]
    """The tasks that are done or dropped, in the order in which they ended."""

    @property
    def open_now(self) -> tuple[TaskThread, ...]:
        """The tasks that are open after the last entry, oldest first."""
        return self.open_by_day[max(self.open_by_day)] if self.open_by_day else ()


def task_history(entries: Sequence[WorklogEntry]) -> TaskHistory:
    """Return all tasks of a worklog with everything that was written of each."""
    days = list(_day_by_day(entries))
    ended = tuple(thread for _, threads in days for thread in threads if not thread.is_open)
    return TaskHistory({date: tuple(t for t in threads if t.is_open) for date, threads in days}, ended)


def open_tasks(entries: Sequence[WorklogEntry]) -> Mapping[dt.date, tuple[TaskThread, ...]]:
    """Map the date of each entry to the tasks that are open at its end, as they stood then."""
    return task_history(entries).open_by_day


def forgotten_tasks(entries: Sequence[WorklogEntry]) -> Iterator[Diagnostic]:
    """Yield a warning for each task that is open, and that the entries of a week do not mention."""
    if not entries:
        return
    last = max(entry.date for entry in entries)
    for thread in open_tasks(entries)[last]:
        event = thread.events[-1]
        if (quiet := (last - event.date).days) >= FORGOTTEN_AFTER_DAYS and event.state is TaskState.OPEN:
            message, hint = f"this task has no outcome after {quiet} days", "add `- Done`, `- Dropped` or {task}`none`"
            yield Diagnostic("SG053", message, event.span, hint, Severity.WARNING)


def _day_by_day(entries: Sequence[WorklogEntry]) -> Iterator[tuple[dt.date, tuple[TaskThread, ...]]]:
    """Yield (date, tasks that were open before the entry or stand in it) for each entry, oldest first."""
    threads: list[TaskThread] = []
    for entry in sorted(entries, key=lambda entry: entry.date):
        before = threads
        for task in entry.tasks:
            threads = _with_task(threads, task, entry)
        threads = [_closed_by_prose(t, entry) if t in before else t for t in threads]
        yield entry.date, tuple(threads)
        threads = [thread for thread in threads if thread.is_open]


def _with_task(threads: list[TaskThread], task: Task, entry: WorklogEntry) -> list[TaskThread]:
    """Return the threads with one more event: of the thread that is the same task, else of a new one."""
    span = Span(entry.body.path, task.line)
    event = TaskEvent(entry.date, task.state, span, task.inferred)
    same = max(threads, key=lambda thread: _likeness(thread.text, task.text), default=None)
    if same is None or _likeness(same.text, task.text) < _ALIKE:
        return [*threads, TaskThread(task.text, (event,))]
    return [replace(t, events=(*t.events, event)) if t is same else t for t in threads]


def _closed_by_prose(thread: TaskThread, entry: WorklogEntry) -> TaskThread:
    stems = _stems(thread.text)
    for index, line in visible_lines(entry.body.text):
        if len(stems) > 1 and _PAST.match(line.lstrip(" -*+\t")) and stems <= _stems(line):
            span = Span(entry.body.path, entry.body.first_line + index)
            return replace(thread, events=(*thread.events, TaskEvent(entry.date, TaskState.DONE, span, True)))
    return thread


def _likeness(a: str, b: str) -> float:
    """Return the share of the words of two texts that both have, from 0 to 1."""
    left, right = _stems(a), _stems(b)
    return len(left & right) / len(left | right) if left or right else float(a == b)


def _stems(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a text, without links and without words that any sentence has."""
    words = _WORD.findall(re.sub(r"\]\([^)]*\)", "] ", text).casefold())
    return frozenset(word[:_STEM] for word in words if word not in _FILLERS)
