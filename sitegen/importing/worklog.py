"""Split a diary in one page into one file a day in content/worklog/, with every word of it, and merge it with what is
there.

A line with nothing but a date, or a date and `T - N`, begins a day, as in every worklog.  The text before the first day
becomes the introduction.  Of a day that the site has already, no word is lost: `merged_days` says which lines win.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.importing.merged_days import merge
from sitegen.importing.plan import ImportPlan
from sitegen.model.site import Markdown, Task, WorklogEntry
from sitegen.read.load import WORKLOG
from sitegen.read.source import decode
from sitegen.read.worklog import DayPiece, DiaryPieces, parse_worklog, pieces_of
from sitegen.read.worklog_notes import is_answer, is_question, tasks_in

MOST_SHOWN = 100
"""Most characters of a line that `understood` shows."""
_FRONT_MATTER = re.compile(r"\s*(?:<!--\s*)?---[ \t]*\n.*?^---[ \t]*(?:-->)?[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def import_worklog(file: Path, there: Mapping[str, str] | None = None) -> ImportPlan:
    """Plan one file a day of the diary `file`, and the introduction; `there` has the site's worklog by path."""
    text, decoding = decode(file.read_bytes(), file.name)
    entries, intro, warnings = parse_worklog({file.name: _without_front_matter(text)})
    if not entries:
        hint = "begin each day with a line such as `2026-11-22`"
        missing = Diagnostic("SG606", "no day in this file", Span(file.name), hint)
        return ImportPlan({}, (*decoding, missing), {file.name: text})
    there = there or {}
    known = {entry.date: entry for entry in parse_worklog(there)[0]}
    merged = dict(there)
    files: dict[str, str | bytes | Path] = {}
    for entry in reversed(entries):
        if (old := known.get(entry.date)) is not None:
            merged[old.span.path] = _with_day(merged[old.span.path], old, _with_other_count(old, entry))
        else:
            files[f"{WORKLOG}{entry.date}.md"] = _day(entry)
    if intro and intro.text.strip():
        _add_intro(intro.text.strip("\n") + "\n", files, merged)
    changed = {path: new for path, new in merged.items() if new != there.get(path)}
    return ImportPlan(files, (*decoding, *warnings), {file.name: text}, changed)


def understood(text: str) -> Iterator[str]:
    """Yield what each line of a diary was taken for: `   7  2025-12-09, T - 154  | 12/09/25 (T - 154)`."""
    pieces = pieces_of(text)
    number = pieces.front.count("\n")
    yield from _lines(pieces.front, 1, lambda line, at: "front matter")
    yield from _lines(pieces.intro, number + 1, lambda line, at: "introduction")
    number += pieces.intro.count("\n")
    for day in pieces.days:
        yield _line(number + 1, _name(day), day.heading)
        tasks = {task.line: task for task in tasks_in(Markdown(day.below, "", number + 2))}
        yield from _lines(day.below, number + 2, _kinds(tasks))
        number += 1 + day.below.count("\n")


def _kinds(tasks: Mapping[int, Task]) -> Callable[[str, int], str]:
    """Return a function from a line and its number to what it was taken for; `tasks` are those by number."""

    def kind(line: str, at: int) -> str:
        task = tasks.get(at)
        return f"task, {task.state}{' by its words' if task.inferred else ''}" if task else _kind(line)

    return kind


def _lines(text: str, first: int, kind: Callable[[str, int], str]) -> Iterator[str]:
    for at, line in enumerate(text.split("\n"), first):
        if line.strip():
            yield _line(at, kind(line, at), line)


def _line(number: int, kind: str, line: str) -> str:
    return f"{number:5}  {kind:24}  {line.strip()[:MOST_SHOWN]}".rstrip()


def _name(day: DayPiece) -> str:
    return f"{day.line.date}" + (f", {_left(day.line.days_left)}" if day.line.days_left is not None else "")


def _kind(line: str) -> str:
    if is_question(line):
        return "question"
    if is_answer(line):
        return "answer"
    return "link" if re.search(r"https?://|\]\(", line) else "text"


def _with_day(text: str, old: WorklogEntry, new: str) -> str:
    """Return the text of a worklog file in which the old entry is merged with the new text of its day."""
    pieces = pieces_of(text)
    for at, day in enumerate(pieces.days):
        if day.line.date == old.date:
            days = (*pieces.days[:at], replace(day, below=_merged(day.below, new)), *pieces.days[at + 1 :])
            return str(replace(pieces, days=days))
    return str(DiaryPieces(pieces.front, _merged(text[len(pieces.front) :], new), ()))


def _with_other_count(old: WorklogEntry, new: WorklogEntry) -> str:
    """Return the new text of a day, with a line for its countdown when the site has none or another."""
    if new.days_left in (None, old.days_left):
        return new.body.text
    said = f"Another copy of this day says {_left(new.days_left)}." if new.days_left is not None else ""
    return new.body.text if said in old.body.text else f"{new.body.text.rstrip()}\n\n{said}\n"


def _merged(old: str, new: str) -> str:
    """Return the merged text with the blank lines around the old one."""
    body = old.strip("\n")
    before, after = old[: len(old) - len(old.lstrip("\n"))], old[len(old.rstrip("\n")) :]
    return (before + merge(body, new.strip("\n")) + (after or "\n")) if body else new


def _add_intro(text: str, files: dict[str, str | bytes | Path], merged: dict[str, str]) -> None:
    """Add the introduction: a new file, or merged with the one that is there."""
    path = f"{WORKLOG}index.md"
    if path in merged:
        merged[path] = merge(merged[path].rstrip("\n"), text.rstrip("\n")) + "\n"
    else:
        files[path] = text


def _without_front_matter(text: str) -> str:
    """Return the text with blank lines in place of its front matter, so that the lines below keep their numbers."""
    matter = _FRONT_MATTER.match(text)
    return "\n" * matter[0].count("\n") + text[matter.end() :] if matter else text


def _day(entry: WorklogEntry) -> str:
    """Return the file of a day; it begins with the date only where the date comes with a countdown."""
    body = entry.body.text.strip("\n") + "\n"
    return body if entry.days_left is None else f"{entry.date} ({_left(entry.days_left)})\n\n{body}"


def _left(days: int) -> str:
    return f"T - {days}" if days >= 0 else f"T + {-days}"
