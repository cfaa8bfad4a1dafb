"""Turn a table of kramdown into one of GitHub, which needs a line of column names and one line of dashes."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"\s*+[|+:=-][|+:=\s-]*+")
_CELLS = re.compile(r"((?:\\.|`[^`]*+`|[^|\\`]++|[`\\])*+)(?:\||$)")


def is_table(lines: Sequence[str]) -> bool:
    """Return whether lines between blank ones are a table: all have a pipe, and one begins with a pipe or is a rule."""
    if not lines or not all(_has_pipe(line) for line in lines):
        return False
    return any(line.lstrip().startswith("|") for line in lines) or any(map(_is_separator, lines))


def github_table(lines: Sequence[str]) -> list[str]:
    """Return the same rows as GitHub writes them.

    A table without column names gets empty ones.  The rows of all bodies and of the foot follow each other.
    """
    first = next((at for at, line in enumerate(lines) if not _is_separator(line)), None)
    if first is None:
        return list(lines)
    rows = lines[first:]
    ruled = next((at for at, line in enumerate(rows) if _is_separator(line) and "=" not in line), None)
    last = max(at for at, line in enumerate(rows) if not _is_separator(line))
    has_names = ruled is not None and ruled < last
    columns = max(len(_cells(line)) for line in rows if not _is_separator(line))
    rule = _rule(rows[ruled] if has_names and ruled is not None else "", columns)
    names = rows[:ruled] if has_names else []
    body = [line for line in (rows[ruled:] if has_names else rows) if not _is_separator(line)]
    head = names[:1] or ["| " * columns + "|"]
    return [_row(head[0], columns), rule, *(_row(line, columns) for line in (*names[1:], *body))]


def _is_separator(line: str) -> bool:
    return _SEPARATOR.fullmatch(line) is not None and ("-" in line or "=" in line) and _has_pipe(line)


def _has_pipe(line: str) -> bool:
    return len(_cells(line.strip() + " ")) > 1 or line.strip().startswith("|")


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    cells = [match[1].strip() for match in _CELLS.finditer(inner) if match[0]]
    return cells or [""]


def _row(line: str, columns: int) -> str:
    cells = _cells(line)
    return f"| {' | '.join([*cells, *[''] * (columns - len(cells))])} |"


def _rule(line: str, columns: int) -> str:
    parts = re.split(r"[|+]", line.strip().strip("|+")) if line else []
    shown = []
    for at in range(columns):
        part = parts[at].strip() if at < len(parts) else ""
        shown.append(f"{':' if part.startswith(':') else ''}---{':' if part.endswith(':') and len(part) > 1 else ''}")
    return f"| {' | '.join(shown)} |"
