"""Follow the tasks of a worklog from day to day: the same task, its states, and for how long it has been open.

Two lines are one task when their words are nearly the same.  A sentence such as "Coded the scan" closes the task "code
the scan" when it names every word of it.  That is an inference, and each event says so.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """The tasks that are open at the end of each day with an entry, as they stood then, without those that were not
    mentioned for `MENTIONED_DAYS`."""
    open_now: tuple[TaskThread, ...]
    """All tasks that are open after the last entry, oldest first."""
    ended: tuple[TaskThread, ...]
    """The tasks that are done or dropped, in the order in which they ended."""


def task_history(entries: Sequence[WorklogEntry]) -> TaskHistory:
    """Return all tasks of a worklog with everything that was written of each."""
    follower, by_day, ended = _Follower(entries), dict[dt.date, tuple[TaskThread, ...]](), list[TaskThread]()
    for entry in sorted(entries, key=lambda entry: entry.date):
        ended += follower.follow(entry)
        by_day[entry.date] = follower.mentioned_lately(entry.date)
    return TaskHistory(by_day, tuple(follower.threads.values()), tuple(ended))


def forgotten_tasks(entries: Sequence[WorklogEntry]) -> Iterator[Diagnostic]:
    """Yield a warning for each task that is open, and that the entries of a week do not mention."""
    last = max((entry.date for entry in entries), default=dt.date.min)
    for thread in task_history(entries).open_now:
        event = thread.events[-1]
        if (quiet := (last - event.date).days) >= FORGOTTEN_AFTER_DAYS and event.state is TaskState.OPEN:
            message, hint = f"this task has no outcome after {quiet} days", "add `- Done`, `- Dropped` or {task}`none`"
            yield Diagnostic("SG053", message, event.span, hint, Severity.WARNING)


class _Follower:
    """Follows the tasks of the entries that it is given, oldest first.

    A worklog of years may have thousands of open tasks.  An open task is therefore found by its rarest words: two texts
    of which `_ALIKE` of the words are the same have one of the rarest words of each in common.
    """

    def __init__(self, entries: Sequence[WorklogEntry]) -> None:
        self.threads: dict[int, TaskThread] = {}
        """The open tasks by number, oldest first."""
        self._stems = {task.text: _stems(task.text) for entry in entries for task in entry.tasks}
        self._uses = Counter(stem for stems in self._stems.values() for stem in stems)
        self._by_word: defaultdict[str, set[int]] = defaultdict(set)
        self._lately: list[int] = []
        self._count = 0

    def follow(self, entry: WorklogEntry) -> list[TaskThread]:
        """Add the lines of an entry, and return the tasks that end with it."""
        touched = {self._add(task, entry) for task in entry.tasks}
        touched |= self._close_by_prose(entry, touched)
        ended = [number for number in sorted(touched) if not self.threads[number].is_open]
        self._lately = sorted({*self._lately, *touched}.difference(ended))
        return [self._forget(number) for number in ended]

    def mentioned_lately(self, date: dt.date) -> tuple[TaskThread, ...]:
        """Return the open tasks with a mention in the days before a date."""
        self._lately = [number for number in self._lately if self.threads[number].was_mentioned_lately(date)]
        return tuple([self.threads[number] for number in self._lately])

    def _add(self, task: Task, entry: WorklogEntry) -> int:
        """Add a line to the thread that is the same task, else to a new one; return the number of the thread."""
        event = TaskEvent(entry.date, task.state, Span(entry.body.path, task.line), task.inferred)
        number = self._same_task(task.text)
        if number is None:
            self._count = number = self._count + 1
            self.threads[number] = TaskThread(task.text, (event,))
            for word in self._rarest(task.text):
                self._by_word[word].add(number)
        else:
            self._add_event(number, event)
        return number

    def _add_event(self, number: int, event: TaskEvent) -> None:
        thread = self.threads[number]
        self.threads[number] = replace(thread, events=(*thread.events, event))

    def _same_task(self, text: str) -> int | None:
        found = {number for word in self._rarest(text) for number in self._by_word.get(word, ())}
        likeness = {number: self._likeness(self.threads[number].text, text) for number in sorted(found)}
        same = max(likeness, key=likeness.__getitem__, default=None)
        return None if same is None or likeness[same] < _ALIKE else same

    def _likeness(self, a: str, b: str) -> float:
        """Return the share of the words of two texts that both have, from 0 to 1."""
        left, right = self._stems[a], self._stems[b]
        return len(left & right) / len(left | right) if left or right else float(a == b)

    def _rarest(self, text: str) -> list[str]:
        """Return the words under which a text is found, the rarest first; the text itself when it has no words.

        A text that is alike has at least `_ALIKE` of these words, so it has one of any other number of them.
        """
        stems = sorted(self._stems[text], key=lambda stem: (self._uses[stem], stem))
        needed = math.ceil(_ALIKE * len(stems) - 1e-9)
        return stems[: len(stems) - needed + 1] or [text]

    def _close_by_prose(self, entry: WorklogEntry, touched: set[int]) -> set[int]:
        """Close the tasks of earlier days of which a sentence names every word; return their numbers."""
        closed: set[int] = set()
        for index, line in _sentences_of_deeds(entry):
            event = TaskEvent(entry.date, TaskState.DONE, Span(entry.body.path, entry.body.first_line + index), True)
            for number in self._named_in(_stems(line)) - touched - closed:
                self._add_event(number, event)
                closed.add(number)
        return closed

    def _named_in(self, stems: frozenset[str]) -> set[int]:
        """Return the open tasks of two words or more that stand in a sentence with these words."""
        found = {number for stem in stems for number in self._by_word.get(stem, ())}
        words = {number: self._stems[self.threads[number].text] for number in found}
        return {number for number, of_task in words.items() if _is_named(of_task, stems)}

    def _forget(self, number: int) -> TaskThread:
        thread = self.threads.pop(number)
        for word in self._rarest(thread.text):
            self._by_word[word].discard(number)
        return thread


def closed_by_prose(entry: WorklogEntry, tasks: Iterable[str]) -> frozenset[str]:
    """Return those of the given texts of tasks that a sentence of an entry would close."""
    sentences = [_stems(line) for _, line in _sentences_of_deeds(entry)]
    if not sentences:
        return frozenset()
    words = frozenset[str]().union(*sentences)
    alike = [text for text in tasks if any(word in text.casefold() for word in words)]
    return frozenset(text for text in alike if any(_is_named(_stems(text), sentence) for sentence in sentences))


def _is_named(task: frozenset[str], sentence: frozenset[str]) -> bool:
    """Tell whether a sentence names a task: the task has two words or more, and all of them stand in the sentence."""
    return len(task) > 1 and task <= sentence


def _sentences_of_deeds(entry: WorklogEntry) -> Iterator[tuple[int, str]]:
    """Yield (index, line) of the lines that tell what was done: `Coded the scan`."""
    if _PAST.search(entry.body.text):
        yield from (line for line in visible_lines(entry.body.text) if _PAST.match(line[1].lstrip(" -*+\t")))


def _stems(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a text, without links and without words that any sentence has."""
    words = _WORD.findall(re.sub(r"\]\([^)]*\)", "] ", text).casefold())
    return frozenset(word[:_STEM] for word in words if word not in _FILLERS)
