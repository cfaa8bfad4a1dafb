"""Merge two copies of a day line by line: of two lines that say the same, the cleaner one; all others of both.

A copy that came through another program may have swapped links, bare URLs or characters in a wrong encoding.  Such a
line says the same as its clean form.
"""

from __future__ import annotations

import difflib
import re
import unicodedata

from sitegen.diagnostics import Diagnostic
from sitegen.read.mojibake import mojibake
from sitegen.read.worklog_links import link_habits, link_mistakes, without_trackers
from sitegen.write.fixes import fixed

_ONLY_A_LINK = re.compile(
    r"\s*(?:[-*+]\s+)*(?:\[[^\n]*\]\((?P<target>https?://[^\s()]+)\)|<?(?P<bare>https?://[^\s>]+?)>?)\s*"
)


def merge(first: str, second: str) -> str:
    """Return one text of two: the order of the first, the lines of both, and the cleaner of lines that say the same."""
    old, new = first.split("\n"), second.split("\n")
    matcher = difflib.SequenceMatcher(None, [*map(_meaning, old)], [*map(_meaning, new)], autojunk=False)
    lines: list[str] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            lines += [_cleaner(x, y) for x, y in zip(old[a:b], new[c:d], strict=True)]
        else:
            lines += [*old[a:b], *(new[c:d] if any(map(str.strip, new[c:d])) else [])]
    return "\n".join(lines)


def _cleaner(old: str, new: str) -> str:
    """Return the line with fewer mistakes; of two as clean the old one."""
    return new if _dirt(new) < _dirt(old) else old


def _dirt(line: str) -> int:
    mistakes = [*_mistakes(line), *link_habits(line, "", {})]
    return len(mistakes)


def _mistakes(line: str) -> list[Diagnostic]:
    return [*link_mistakes(line, ""), *mojibake(line, "")]


def _meaning(line: str) -> str:
    """Return what a line says, whatever its spelling: the address of a lone link, else its words."""
    mended = fixed(line, _mistakes(line)).rstrip("\n")
    if link := _ONLY_A_LINK.fullmatch(mended):
        return without_trackers(link["target"] or link["bare"])
    return " ".join(unicodedata.normalize("NFKC", mended).split())
