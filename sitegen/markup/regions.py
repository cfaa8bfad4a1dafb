"""A source file → the part of it that a page shows: between `# region: NAME` and `# endregion`, or all of it."""

from __future__ import annotations

import re
import textwrap

_BEGIN = re.compile(r"\s*(?:#|//)\s*region:\s*([\w.-]+)\s*$")
_END = re.compile(r"\s*(?:#|//)\s*endregion\b.*$")


def region_names(source: str) -> tuple[str, ...]:
    return tuple(found[1] for line in source.split("\n") if (found := _BEGIN.match(line)))


def without_marks(source: str) -> str:
    """The whole text, less the lines that only mark regions."""
    return "\n".join(line for line in source.split("\n") if not _BEGIN.match(line) and not _END.match(line))


def region(source: str, name: str) -> str | None:
    """The lines of a region, dedented, regions inside it unmarked; None when there is no such region."""
    kept: list[str] = []
    depth = 0
    for line in source.split("\n"):
        found = _BEGIN.match(line)
        if found and (depth or found[1] == name):
            depth += 1
        elif depth and _END.match(line):
            depth -= 1
            if depth == 0:
                break
        elif depth:
            kept.append(line)
    return textwrap.dedent("\n".join(kept)) if kept or name in region_names(source) else None
