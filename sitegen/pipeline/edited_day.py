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
    start, above = _below_the_same(days, text)
    if above == len(days):
        return None
    day, end = days[above], _above_the_same(days[above:], text)
    before = f"{text[:start]}{day.text}{text[end:]}"
    if start > end or digest_of(before.encode()) != digest:
        return None
    new = text[start:end]
    is_last = above == len(days) - 1
    return (day, replace(day, text=new)) if keeps_days(day.text, new, is_last=is_last) else None


def _below_the_same(days: Sequence[PatchableDay], text: str) -> tuple[int, int]:
    """Return where the text of the first changed day begins, and its index among the days."""
    at, line = 0, 1
    for index, day in enumerate(days):
        for _ in range(day.first_line - line):
            at = text.find("\n", at) + 1
        if not text.startswith(day.text, at):
            return at, index
        at, line = at + len(day.text), day.first_line + day.text.count("\n")
    return at, len(days)


def _above_the_same(days: Sequence[PatchableDay], text: str) -> int:
    """Return where the text of the first of these days ends, when all others stand at the end of the file."""
    end = len(text)
    for before, day in zip(reversed(days[:-1]), reversed(days[1:]), strict=True):
        end -= len(day.text)
        for _ in range(day.first_line - before.first_line - before.text.count("\n")):
            end = text.rfind("\n", 0, max(end - 1, 0)) + 1
    return end
