"""Gather the links of a worklog: each address once, with its best title and what the author wrote about it, day by day.

Two spellings of an address are one link: trackers, `http`, `www.`, a slash at the end and the part after `#` do not
count.  The state of reading comes from the author's words beside the link or below it, and the last word counts.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitegen.model.site import TaskState, WorklogEntry
from sitegen.read.worklog_days import visible_lines, without_code
from sitegen.read.worklog_links import without_trackers, written_links

_MOST_NOTES = 4
"""The most lines below a link that are notes on it."""
_MARKS = " \t-–—:;,.+*()[]>|"
_UNFINISHED = re.compile(
    r"\b(?:read|watched|got|stopped)\s+(?:it\s+)?(?:till|until|up to|half|halfway|the first|part of|to)\b"
    r"|\b(?:half|partly|partially) (?:read|watched)\b|\bglossed over\b|\b(?:reading|watching)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:to|will|should|must|later) (?:read|watch|see|revisit|finish)\b|\bgo through\b"
    r"|\b(?:read|watch) (?:it |this )?(?:later|next|tmr|tomorrow|soon)\b|\breading list\b|\bunread\b",
    re.IGNORECASE,
)
_READ = re.compile(r"\b(?:read|re-read|reread|watched|finished|went through|worked through)\b", re.IGNORECASE)
_OF_TASK = {
    TaskState.OPEN: "to read",
    TaskState.PARTIAL: "reading",
    TaskState.DONE: "read",
}


class Reading(StrEnum):
    """How far the author has read, as the diary says."""

    TO_READ = "to read"
    READING = "reading"
    READ = "read"
    UNSAID = "linked"
    """No word of the diary says whether it was read."""


@dataclass(frozen=True, slots=True)
class Note:
    """The words of the author about a link on one day, as Markdown."""

    date: dt.date
    text: str


@dataclass(frozen=True, slots=True)
class ReadingItem:
    """One address of the worklog."""

    url: str
    """The shortest spelling without a tracker."""
    title: str
    """The longest title; empty when the author wrote none."""
    dates: tuple[dt.date, ...]
    """The days that have the link, oldest first; a day that has it twice stands twice."""
    notes: tuple[Note, ...]
    reading: Reading


@dataclass(frozen=True, slots=True)
class LinkMention:
    """A link as it stands in the text of one day."""

    date: dt.date
    url: str
    title: str
    notes: tuple[str, ...]
    reading: Reading


def reading_list(entries: Iterable[WorklogEntry]) -> tuple[ReadingItem, ...]:
    """Return the links of a worklog, the ones that were seen last first."""
    by_address: dict[str, list[LinkMention]] = {}
    for entry in sorted(entries, key=lambda entry: entry.date):
        for mention in links_in(entry):
            by_address.setdefault(canonical(mention.url), []).append(mention)
    items = (_item(mentions) for mentions in by_address.values())
    return tuple(sorted(items, key=lambda item: item.dates[-1], reverse=True))


def canonical(url: str) -> str:
    """Return what is the same in all spellings of an address."""
    address = without_trackers(url).partition("#")[0].partition("://")
    host, slash, path = (address[2] or address[0]).partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}".rstrip("/")


def _item(mentions: Sequence[LinkMention]) -> ReadingItem:
    said = [mention.reading for mention in mentions if mention.reading is not Reading.UNSAID]
    return ReadingItem(
        url=min((without_trackers(mention.url) for mention in mentions), key=len),
        title=max((mention.title for mention in mentions), key=len),
        dates=tuple(mention.date for mention in mentions),
        notes=tuple(Note(mention.date, note) for mention in mentions for note in mention.notes),
        reading=said[-1] if said else Reading.UNSAID,
    )


def links_in(entry: WorklogEntry) -> Iterator[LinkMention]:
    """Yield the links of one day, with the notes on them."""
    if not _may_have_link(entry.body.text):
        return
    states = {task.line - entry.body.first_line: task.state for task in entry.tasks}
    lines = list(visible_lines(entry.body.text))
    for at, (index, line) in [numbered for numbered in enumerate(lines) if _may_have_link(numbered[1][1])]:
        links = list(written_links(without_code(line), line))
        below = tuple(_notes_below(lines[at + 1 :], line)) if len(links) == 1 else ()
        for link in links:
            beside = _beside(line, link.whole) if len(links) == 1 else ""
            notes = tuple(filter(None, (beside, *below)))
            reading = _reading(states.get(index), notes)
            yield LinkMention(entry.date, link.url, link.title, notes, reading)


def _may_have_link(text: str) -> bool:
    return "://" in text or "www." in text


def _beside(line: str, link: str) -> str:
    """Return the words of a line before and after its link."""
    before, _, after = line.partition(link)
    before = re.sub(r"^[ \t]*(?:[-*+][ \t]+)*(?:\[[ xX/~>-]\][ \t]+)?", "", before)
    return " … ".join(filter(None, (before.strip(_MARKS), after.strip(_MARKS))))


def _notes_below(lines: Sequence[tuple[int, str]], link: str) -> Iterator[str]:
    """Yield the first lines that are indented below the line of a link."""
    for count, (_, line) in enumerate(lines):
        if count == _MOST_NOTES or not line.strip() or _width(line) <= _width(link) or "://" in line:
            return
        yield line.strip().lstrip("-*+ ").strip()


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _reading(task: TaskState | None, notes: Iterable[str]) -> Reading:
    words = " ; ".join(notes)
    for pattern, reading in (
        (_LATER, Reading.TO_READ),
        (_UNFINISHED, Reading.READING),
        (_READ, Reading.READ),
    ):
        if pattern.search(words):
            return reading
    return Reading(_OF_TASK[task]) if task in _OF_TASK else Reading.UNSAID
