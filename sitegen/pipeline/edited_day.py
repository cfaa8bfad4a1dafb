"""Find the day of a worklog that an edit of its file changed, when the edit changed nothing else in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sitegen.pipeline.patchable_days import PatchableDay
from sitegen.read.worklog_days import keeps_days
from sitegen.write.scan import digest_of


def edited_day(days: Sequence[PatchableDay], text: str, digest: bytes) -> tuple[PatchableDay, PatchableDay] | None:
    """Return the only day that an edit changed, as it was and as it is, with its words as they were.

    `days` are the days of the file before the edit, in the order of their lines; `digest` is that of the file before,
    and `text` is the file now.  Returns None when another line of the file changed, or when another line may open a day
    now.
    """
    starts = _starts(days, text)
    for index in range(len(starts) - 1, max(len(starts) - 3, -1), -1):
        if now := _with_new_text(days[index:], text, starts[index], digest):
            return days[index], now
    return None


def _with_new_text(days: Sequence[PatchableDay], text: str, start: int, digest: bytes) -> PatchableDay | None:
    """Return the first of these days, the last of the file, with its text that begins at `start`; None when another
    line changed.
    """
    day, end = days[0], _above_the_same(days, text)
    new = text[start:end]
    if start > end or not keeps_days(day.text, new, is_last=len(days) == 1):
        return None
    before = f"{text[:start]}{day.text}{text[end:]}"
    return replace(day, text=new) if digest_of(before.encode()) == digest else None


def _starts(days: Sequence[PatchableDay], text: str) -> list[int]:
    """Return where the texts of the days begin, up to the first that does not stand there.

    The last or the last but one of them is the changed day: a day may have its text and more.
    """
    starts: list[int] = []
    at, line = 0, 1
    for day in days:
        for _ in range(day.first_line - line):
            at = text.find("\n", at) + 1
        starts.append(at)
        if not text.startswith(day.text, at):
            break
        at, line = at + len(day.text), day.first_line + day.text.count("\n")
    return starts


def _above_the_same(days: Sequence[PatchableDay], text: str) -> int:
    """Return where the text of the first of these days ends, when all others stand at the end of the file."""
    end = len(text)
    for before, day in zip(reversed(days[:-1]), reversed(days[1:]), strict=True):
        end -= len(day.text)
        for _ in range(day.first_line - before.first_line - before.text.count("\n")):
            end = text.rfind("\n", 0, max(end - 1, 0)) + 1
    return end
