"""Find characters that were read in a wrong encoding, such as `â€™` for an apostrophe, and what they were.

UTF-8 that was read as Windows-1252, Latin-1 or Thai (cp874) can be reversed.  What has lost a byte cannot; then the
character that it probably was is only suggested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.read.worklog_days import visible_lines, without_code

_RUN = re.compile("[^\x00-\x7f]{2,}")
_LOST = {"â€": "”", "\u0e42": "—"}
"""Beginnings of broken characters whose last bytes are lost, and what they probably were."""
_LOST_PATTERN = re.compile("â€(?![\x80-\xff\u0152-\u0178\u02c6-\u2122])|(?<![\u0e00-\u0e7f])\u0e42(?![\u0e00-\u0e7f])")
_QUOTES = frozenset("\u2018\u2019\u201a\u201c\u201d\u201e\u2026\u2013\u2014\u2039\u203a\u00ab\u00bb\u00a0")
"""Characters that may follow a capital letter in prose: with them two characters alone prove nothing."""
_PLAUSIBLE = re.compile(
    "[\u00a0-\u024f\u0370-\u03ff\u0400-\u04ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u22ff\u2500-\u25ff"
    "\u2600-\u27bf\ufb00-\ufb06\U0001f300-\U0001faff]+"
)


def mojibake(text: str, path: str) -> Iterator[Diagnostic]:
    """Yield a warning for each passage in a wrong encoding, with the right text where the bytes are all there."""
    for index, line in () if text.isascii() else visible_lines(text):
        for start, broken, right, certain in _passages(without_code(line)):
            span = Span(path, index + 1, start + 1, len(broken))
            fix, hint = (right, f"write `{right}`") if certain else (None, f"was it `{right}`?")
            yield Diagnostic("SG049", f"`{broken}` was read in a wrong encoding", span, hint, Severity.WARNING, fix)


def _passages(line: str) -> Iterator[tuple[int, str, str, bool]]:
    """Yield (place, broken text, right text, whether it is certain) in a line."""
    for run in _RUN.finditer(line):
        found = list(_characters(run[0]))
        once = whole = _restored(run[0])
        while (again := _restored(whole)) != whole:
            whole = again
        if whole != once:
            yield run.start(), run[0], whole, True  # it was read in a wrong encoding twice
        else:
            yield from ((run.start() + at, broken, right, certain) for at, broken, right, certain in found)
    for lost in _LOST_PATTERN.finditer(line):
        yield lost.start(), lost[0], _LOST[lost[0]], False


def _characters(run: str) -> Iterator[tuple[int, str, str, bool]]:
    start = 0
    while start < len(run) - 1:
        broken, right = _longest(run[start:])
        if broken:
            yield start, broken, right, not (len(broken) == 2 and broken[1] in _QUOTES)
        start += len(broken) or 1


def _restored(run: str) -> str:
    """Return a run with every character that is certain."""
    for start, broken, right, certain in reversed(list(_characters(run))):
        run = run[:start] + right + run[start + len(broken) :] if certain else run
    return run


def _longest(run: str) -> tuple[str, str]:
    """Return the beginning of a run that is one character of UTF-8 in a wrong encoding, and that character."""
    for length in (4, 3, 2):
        for encoding in ("cp1252", "cp874"):
            data = _as_bytes(run[:length], encoding) if len(run) >= length else None
            right = _decoded(data) if data else ""
            if encoding == "cp874" and not (length > 2 and run[0] == "\u0e42" and not "\u0e00" <= run[1] <= "\u0e7f"):
                continue  # two letters of Thai are rather Thai
            if len(right) == 1 and _PLAUSIBLE.fullmatch(right):
                return run[:length], right
    return "", ""


def _as_bytes(text: str, encoding: str) -> bytes | None:
    """Return the bytes of a text; a control character stands for the byte of its number, as in Latin-1."""
    try:
        return b"".join(bytes([ord(c)]) if 0x80 <= ord(c) < 0xA0 else c.encode(encoding) for c in text)
    except UnicodeEncodeError:
        return None


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
