"""Turn the fixes of diagnostics into new texts: every replacement of a file at once, and nothing else of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace

from sitegen.diagnostics import Diagnostic

_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def fixed(text: str, diagnostics: Iterable[Diagnostic]) -> str:
    """Return a text with the fixes of the diagnostics that have one; ends of lines and a BOM stay as they are.

    A fix within the passage of another one is made in the text of the other.
    """
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    lines = _LINE.findall(text.removeprefix("\ufeff"))
    by_line: dict[int, list[Diagnostic]] = {}
    for one in diagnostics:
        if one.fix is not None and one.span.line <= len(lines):
            by_line.setdefault(one.span.line - 1, []).append(one)
    for index, some in by_line.items():
        lines[index] = _fixed_line(lines[index], some)
    return bom + "".join(lines)


def encoded_like(text: str, before: bytes) -> bytes:
    """Return a text whose lines end with LF as bytes, with the ends of lines and the BOM of the file that it replaces.

    Raises UnicodeDecodeError when that file is not UTF-8, since the text has lost some of its bytes.
    """
    before.decode("utf-8")
    ended = text.replace("\n", "\r\n") if b"\r\n" in before else text
    return (b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b"") + ended.encode("utf-8")


def diff(before: str, after: str, path: str) -> str:
    """Return the changes of a file as `diff -u` shows them; empty when there are none."""
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    lines = (line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(old, new, path, path))
    return "".join(lines)


def _fixed_line(line: str, some: list[Diagnostic]) -> str:
    """Replace from the right, so that the columns further left stay right."""
    for one in sorted(_outermost(line, some), key=lambda d: d.span.col, reverse=True):
        start, end = one.span.col - 1, one.span.col - 1 + one.span.length
        line = f"{line[:start]}{one.fix}{line[end:]}"
    return line


def _outermost(line: str, some: list[Diagnostic]) -> list[Diagnostic]:
    """Return the fixes that lie in no other one, with those inside of them made in their texts."""
    kept: list[Diagnostic] = []
    for one in sorted(dict.fromkeys(some), key=lambda d: (-d.span.length, d.span.col)):
        start, end = one.span.col - 1, one.span.col - 1 + one.span.length
        around = next((k for k in kept if k.span.col - 1 < end and start < k.span.col - 1 + k.span.length), None)
        if around is None:
            kept.append(one)
        else:
            kept[kept.index(around)] = replace(around, fix=(around.fix or "").replace(line[start:end], one.fix or ""))
    return kept
