"""Make today's entry of a worklog, and add lines to it, as new texts of the worklog's files.

The entry goes where the newest one is: into the diary of many days, in the form of its headings, or into a file of its
own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sitegen.model.site import WorklogEntry
from sitegen.read.load import WORKLOG
from sitegen.read.privacy import without_private_blocks
from sitegen.read.worklog import parse_worklog, pieces_of
from sitegen.read.worklog_days import find_days
from sitegen.read.worklog_tasks import task_history

_ROUTINE = re.compile(r"[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)")


def with_today(files: Mapping[str, str], day: dt.date, goal: dt.date | None) -> tuple[str, str]:
    """Return the path and the text of the file with the entry of a day, which is made when it is missing.

    `files` has the texts of the worklog by path, `goal` the date of the site's countdown.
    """
    entries, intro, _ = parse_worklog({path: without_private_blocks(text) for path, text in files.items()})
    if (there := next((entry for entry in entries if entry.date == day), None)) is not None:
        return there.span.path, files[there.span.path]
    routine = _routine(intro.text if intro else "")
    goal = _common_goal(entries) or goal
    body = routine + _carried(entries, day, routine)
    path = entries[0].span.path if entries else ""
    days = find_days(files[path]).lines if path else ()
    if len(days) < 2:
        return f"{WORKLOG}{day}.md", f"{_heading(day, goal)}\n\n{body}"
    heading = _like(files[path], day, goal)
    pieces = pieces_of(files[path], path)
    dates = [piece.line.date for piece in pieces.days if piece.line.date]
    if dates[0] > dates[-1]:
        first = pieces.days[0]
        newest = replace(first, heading=f"{heading}\n\n{body}\n{first.heading}")
        return path, str(replace(pieces, days=(newest, *pieces.days[1:])))
    return path, f"{files[path].rstrip()}\n\n{heading}\n\n{body}"


def with_line(text: str, path: str, day: dt.date, line: str) -> str:
    """Return the text of a worklog file with a line at the end of a day's entry."""
    pieces = pieces_of(text, path)
    for at, piece in enumerate(pieces.days):
        if piece.line.date == day:
            after = "\n\n" if at + 1 < len(pieces.days) else "\n"
            below = f"\n{piece.below.strip(chr(10))}\n\n{line}{after}" if piece.below.strip() else f"\n{line}{after}"
            heading = piece.heading.rstrip("\n") + "\n"
            days = (*pieces.days[:at], replace(piece, heading=heading, below=below), *pieces.days[at + 1 :])
            return str(replace(pieces, days=days))
    return f"{text.rstrip()}\n\n{line}\n" if text.strip() else f"{line}\n"


def _common_goal(entries: Sequence[WorklogEntry]) -> dt.date | None:
    """Return the day to which most countdowns of a worklog lead; None without a countdown."""
    goals = Counter(e.date + dt.timedelta(days=e.days_left) for e in entries if e.days_left is not None)
    return goals.most_common(1)[0][0] if goals else None


def _heading(day: dt.date, goal: dt.date | None) -> str:
    return f"{day} ({_left(day, goal)})" if goal else str(day)


def _left(day: dt.date, goal: dt.date) -> str:
    days = (goal - day).days
    return f"T - {days}" if days >= 0 else f"T + {-days}"


def _like(text: str, day: dt.date, goal: dt.date | None) -> str:
    """Return the heading of a day in the form of the last heading; in ISO 8601 when that form is a rare one."""
    found = find_days(text)
    last = found.lines[-1]
    marks = re.match(r"\s*\#*\s*", last.text)
    before = marks[0] if marks else ""
    numeric = re.search(r"\d{1,2}([/.-])\d{1,2}[/.-]\d{4}", last.text)
    left = f" ({_left(day, goal)})" if goal and last.days_left is not None else ""
    if numeric is None:
        return f"{before}{day}{left}"
    order = (day.day, day.month) if found.day_first else (day.month, day.day)
    return f"{before}{numeric[1].join((f'{order[0]:02d}', f'{order[1]:02d}', str(day.year)))}{left}"


def _routine(intro: str) -> str:
    """Return the list items of the introduction as a checklist."""
    items = [match["text"] for line in intro.split("\n") if (match := _ROUTINE.fullmatch(line.rstrip()))]
    return "".join(f"- [ ] {item}\n" for item in items)


def _carried(entries: Sequence[WorklogEntry], day: dt.date, routine: str) -> str:
    """Return the tasks that the newest entry before a day left open, as a checklist, without the routine."""
    past = [entry for entry in entries if entry.date < day]
    lines = (f"- [ ] {thread.text}\n" for thread in task_history(past).open_now)
    return "".join(line for line in lines if line not in routine)
