"""Split a diary in one page into one file a day in content/worklog/, with every word of it.

A line with nothing but a date, or a date and `T - N`, begins a day, as in every worklog.  The text before the first day
becomes the introduction.
"""

from __future__ import annotations

import re
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.importing.plan import ImportPlan
from sitegen.model.site import WorklogEntry
from sitegen.read.source import decode
from sitegen.read.worklog import parse_worklog

FOLDER = "content/worklog"
_FRONT_MATTER = re.compile(r"\s*(?:<!--\s*)?---[ \t]*\n.*?^---[ \t]*(?:-->)?[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def import_worklog(file: Path) -> ImportPlan:
    """Plan one file a day of the diary `file`, and the introduction."""
    text, decoding = decode(file.read_bytes(), file.name)
    entries, intro, warnings = parse_worklog({file.name: _without_front_matter(text)})
    if not entries:
        hint = "begin each day with a line such as `2026-11-22`"
        missing = Diagnostic("SG606", "no day in this file", Span(file.name), hint)
        return ImportPlan({}, (*decoding, missing), {file.name: text})
    files: dict[str, str | bytes | Path] = {f"{FOLDER}/{entry.date}.md": _day(entry) for entry in reversed(entries)}
    if intro:
        files[f"{FOLDER}/index.md"] = intro.text.strip("\n") + "\n"
    return ImportPlan(files, (*decoding, *warnings), {file.name: text})


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
