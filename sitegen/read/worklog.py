"""Read content/worklog/*.md into days, newest first.

A file is one day (`2026-11-21.md`, or `date:` in its front matter) or a diary of many, in which a line with nothing
but a date, perhaps with `T - N`, opens a day; a heading that begins with a date may go on with a title.  No text is
lost: text before the first day is the intro, a line that only looks like a day stays text, and a day that comes twice
is joined.  All diagnostics are warnings.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.dates import in_calendar
from sitegen.model.site import Markdown, WorklogEntry
from sitegen.read.mojibake import mojibake
from sitegen.read.pages import stem
from sitegen.read.shape import read_as
from sitegen.read.source import split_front_matter
from sitegen.read.worklog_days import DateLine, find_days, wrong_countdowns
from sitegen.read.worklog_links import link_mistakes
from sitegen.read.worklog_notes import questions_in, tasks_in
from sitegen.read.yaml_nodes import parse_yaml

_NAMED_BY_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:\D.*)?")
_FRONT_MATTER_IN_COMMENT = re.compile(r"\s*<!--\s*---\s*\n.*?^\s*---\s*-->[ \t]*\n?", re.DOTALL | re.MULTILINE)


_OF_OTHER_PROGRAMS = ("title", "description", "layout", "permalink", "nav", "nav_order", "tags")
"""Keys of a page of Jekyll.  They have no effect here, and a diary that has them can stand here as it is."""


@dataclass(frozen=True, slots=True)
class _DayFrontMatter:
    date: dt.date | None = None


@dataclass(frozen=True, slots=True)
class DayPiece:
    """A day of a diary as it is written."""

    line: DateLine
    heading: str
    """The line that opens the day, with its end of line."""
    below: str
    """The lines up to the next day."""


@dataclass(frozen=True, slots=True)
class DiaryPieces:
    """The text of a diary in pieces, of which no character is left out."""

    front: str
    """Front matter, plain or in an HTML comment; empty when the diary has none."""
    intro: str
    """Text before the first day: what the author does every day, a template of a heading."""
    days: tuple[DayPiece, ...]

    def __str__(self) -> str:
        return self.front + self.intro + "".join(day.heading + day.below for day in self.days)


@dataclass(frozen=True, slots=True)
class _Diary:
    """The content of one file."""

    intro: Markdown
    entries: tuple[WorklogEntry, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def parse_worklog(
    files: Mapping[str, str],
) -> tuple[tuple[WorklogEntry, ...], Markdown | None, tuple[Diagnostic, ...]]:
    """Return the entries, the intro and the warnings of texts by path."""
    diaries = [_parse_file(text, path) for path, text in files.items()]
    diagnostics = [warning for diary in diaries for warning in diary.diagnostics]
    days: dict[dt.date, WorklogEntry] = {}
    for entry in (entry for diary in diaries for entry in diary.entries):
        if (first := days.get(entry.date)) is not None:
            hint = f"first in {first.span.path}:{first.span.line}; both are shown as one"
            diagnostics.append(Diagnostic("SG043", f"{entry.date} comes twice", entry.span, hint))
            entry = _join_entries(first, entry)
        days[entry.date] = entry
    intros = [diary.intro for diary in diaries if diary.intro.text.strip()]
    for path, text in files.items():
        diagnostics += [*link_mistakes(text, path), *mojibake(text, path)]
    warnings = tuple(replace(d, severity=Severity.WARNING) for d in diagnostics)
    return tuple(days[day] for day in sorted(days, reverse=True)), _join_texts(intros), warnings


def pieces_of(text: str, path: str = "") -> DiaryPieces:
    """Return a diary in pieces; `str` of the result is the text again."""
    body, _, _ = _read_front_matter(text, path)
    intro, days = _cut(body.text, find_days(body.text).lines)
    return DiaryPieces(text[: len(text) - len(body.text)], intro, days)


def parse_day(day: dt.date, days_left: int | None, body: Markdown) -> tuple[WorklogEntry, tuple[Diagnostic, ...]]:
    """Return the entry of a day whose date is known, and the mistakes in its links and characters."""
    mistakes = (*link_mistakes(body.text, body.path), *mojibake(body.text, body.path))
    return _entry(day, days_left, body, Span(body.path, body.first_line)), mistakes


def _parse_file(text: str, path: str) -> _Diary:
    body, day, diagnostics = _read_front_matter(text, path)
    if day is not None:
        entry = _one_day(day, body)
        return _Diary(Markdown("", path), (entry,), tuple(diagnostics))
    return _many_days(body, diagnostics)


def _read_front_matter(text: str, path: str) -> tuple[Markdown, dt.date | None, list[Diagnostic]]:
    """Return the text below the front matter, the date when the file is one day, and the mistakes so far."""
    if comment := _FRONT_MATTER_IN_COMMENT.match(text):
        body = Markdown(text[comment.end() :], path, 1 + comment[0].count("\n"))
        return body, *_day_in_name(path)
    front, unclosed = split_front_matter(text, path)
    node, syntax = parse_yaml(front.yaml or "", path, first_line=front.yaml_line)
    diagnostics = [*unclosed, *syntax]
    written = read_as(_DayFrontMatter, node, diagnostics, noun="front matter key", also=_OF_OTHER_PROGRAMS).date
    named, misnamed = _day_in_name(path)
    if written and named and written != named and (place := node and node.get("date")):
        message = f"this date is not the date in the file name, {named}"
        diagnostics.append(Diagnostic("SG045", message, place.span, "this date counts; rename the file or correct it"))
    return front.body, written or named, diagnostics + misnamed


def _day_in_name(path: str) -> tuple[dt.date | None, list[Diagnostic]]:
    match = _NAMED_BY_DATE.fullmatch(stem(path))
    try:
        return (in_calendar(dt.date.fromisoformat(match[1])) if match else None), []
    except ValueError:
        hint = "a file of one day is named as `2026-11-22.md`"
        return None, [Diagnostic("SG040", f"impossible date in the name `{stem(path)}`", Span(path), hint)]


def _one_day(day: dt.date, body: Markdown) -> WorklogEntry:
    """Return the entry of a file for one day; a heading with only the date and `T - N` is taken out of the text."""
    first = next((line for line in find_days(body.text).lines if line.date == day), None)
    if first is None or "".join(body.text.split("\n")[: first.index]).strip():
        return _entry(day, None, body, Span(body.path, body.first_line))
    lines = replace(first, date=day)
    return _entry_of(_cut(body.text, [lines])[1][0], body)


def _many_days(body: Markdown, diagnostics: list[Diagnostic]) -> _Diary:
    days = find_days(body.text)
    intro, pieces = _cut(body.text, days.lines)
    diagnostics += _warnings(days.lines, days.ambiguous, body)
    if not pieces:
        return _Diary(body, (), (*diagnostics, *_no_day(body)))
    entries = tuple(_entry_of(piece, body) for piece in pieces)
    return _Diary(replace(body, text=intro), entries, tuple(diagnostics))


def _cut(text: str, days: Iterable[DateLine]) -> tuple[str, tuple[DayPiece, ...]]:
    """Return the text before the first day, and the days; joined again they are the text."""
    lines, dated = re.findall(r"[^\n]*\n|[^\n]+", text), [day for day in days if day.date]
    ends = [*(day.index for day in dated), len(lines)][1:]
    pieces = tuple(
        DayPiece(day, lines[day.index], "".join(lines[day.index + 1 : end]))
        for day, end in zip(dated, ends, strict=True)
    )
    return "".join(lines[: dated[0].index] if dated else lines), pieces


def _entry_of(piece: DayPiece, body: Markdown) -> WorklogEntry:
    """Return the entry of a piece; the title of a heading such as `## 2026-11-21: Warps` stays, as a heading."""
    day, first = piece.line, body.first_line + piece.line.index
    assert day.date is not None
    name = day.date.isoformat()
    text = Markdown(f"{day.title}\n{piece.below}", body.path, first, name)
    text = text if day.title else Markdown(piece.below, body.path, first + 1, name)
    return _entry(day.date, day.days_left, text, _place(body, day))


def _warnings(days: Iterable[DateLine], ambiguous: bool, body: Markdown) -> Iterator[Diagnostic]:
    undated = [day for day in days if not day.date]
    dated = [day for day in days if day.date]
    for day in undated:
        hint = "the line stays text of the day above; write `2026-11-22`"
        yield Diagnostic("SG040", "impossible date", _place(body, day), hint)
    if ambiguous:
        hint = f"read as {dated[0].date}; write the year first to be sure"
        message = "this date does not tell whether the month or the day comes first"
        yield Diagnostic("SG041", message, _place(body, dated[0]), hint)
    for day, goal, days_left in wrong_countdowns(dated):
        message = f"`T - N` of this day does not lead to {goal}, as on the other days"
        hint, fix = f"write `T - {days_left}`?", _recounted(day, dated, goal, days_left)
        if days_left < 0 and day.days_left is not None:
            hint = f"with this N it would be {goal - dt.timedelta(days=day.days_left)}; is the date right?"
        yield Diagnostic("SG042", message, _place(body, day), hint, Severity.WARNING, fix)


def _recounted(day: DateLine, days: Sequence[DateLine], goal: dt.date, days_left: int) -> str | None:
    """Return the line of a day with another N; None unless the days beside it show that its date is right.

    They show it when both count down to the common goal, and the date lies between theirs.
    """
    at = days.index(day)
    if not 0 < at < len(days) - 1 or days_left < 0 or day.days_left is None or day.days_left < 0:
        return None
    before, after = days[at - 1], days[at + 1]
    if not (day.date and before.date and after.date and before.goal == after.goal == goal):
        return None
    between = before.date < day.date < after.date or after.date < day.date < before.date
    return (
        re.sub(r"([TDJ]\s*(?:\W|minus)\s*)\d+", rf"\g<1>{days_left}", day.text.strip(), flags=re.I) if between else None
    )


def _day_of_name(name: str) -> str:
    """Return the day, in ISO 8601, that the name of a file writes in another form; empty when it is not clear."""
    numbers = [int(part) for part in re.findall(r"\d+", name)] if re.fullmatch(r"\d+(\D\d+){2}", name) else []
    orders = [numbers, numbers[::-1], [*numbers[2:], *numbers[:2]]] if numbers else []
    days = set()
    for year, month, day in orders:
        with suppress(ValueError):
            days |= {dt.date(year, month, day).isoformat()} if year > 999 else set()
    return days.pop() if len(days) == 1 else ""


def _no_day(body: Markdown) -> Iterator[Diagnostic]:
    if stem(body.path) != "index" and body.text.strip():
        hint = "begin each day with a line such as `2026-11-22`, or name the file so"
        if day := _day_of_name(stem(body.path)):
            hint = f"rename the file to `{body.path.rpartition('/')[0]}/{day}.md`"
        yield Diagnostic("SG044", "no day in this file", Span(body.path, body.first_line), hint)


def _entry(day: dt.date, days_left: int | None, body: Markdown, span: Span) -> WorklogEntry:
    return WorklogEntry(day, body, span, days_left, tasks_in(body), questions_in(body))


def _place(body: Markdown, day: DateLine) -> Span:
    indent = len(day.text) - len(day.text.lstrip())
    return Span(body.path, body.first_line + day.index, 1 + indent, len(day.text.strip()))


def _join_entries(first: WorklogEntry, second: WorklogEntry) -> WorklogEntry:
    """Return one entry with both texts; an equal text is not repeated."""
    if first.body.text.strip() == second.body.text.strip():
        return first
    body = _join_texts([first.body, second.body])
    assert body is not None
    tasks, questions = first.tasks + second.tasks, first.questions + second.questions
    return replace(first, body=body, tasks=tasks, questions=questions)


def _join_texts(parts: Iterable[Markdown]) -> Markdown | None:
    """Return one text at the place of the first; the lines of the other texts lose their places."""
    parts = tuple(parts)
    return replace(parts[0], text="\n\n".join(part.text for part in parts)) if parts else None
