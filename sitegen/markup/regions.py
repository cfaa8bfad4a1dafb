"""A source file → the part of it that a page shows: between `# region: NAME` and `# endregion`, or all of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

_BEGIN = re.compile(r"\s*(?:#|//)\s*region:\s*([\w.-]+)\s*$")
_END = re.compile(r"\s*(?:#|//)\s*endregion\b.*$")


def region_names(source: str) -> tuple[str, ...]:
    return tuple(match[1] for line in source.split("\n") if (match := _BEGIN.match(line)))


def unmarked(source: str) -> tuple[str, Mapping[str, range]]:
    """The whole text, less the lines that only mark regions, and where in it each region stands, lines from 1.

    A region that is never closed goes to the end; of two with one name the first counts.
    """
    kept: list[str] = []
    regions: dict[str, range] = {}
    opened: list[tuple[str, int]] = []

    def close() -> None:
        name, first = opened.pop()
        regions.setdefault(name, range(first, len(kept) + 1))

    for line in source.split("\n"):
        if match := _BEGIN.match(line):
            opened.append((match[1], len(kept) + 1))
        elif not _END.match(line):
            kept.append(line)
        elif opened:
            close()
    while opened:
        close()
    return "\n".join(kept), dict(sorted(regions.items(), key=lambda item: item[1].start))


def region(source: str, name: str) -> tuple[str, Mapping[str, range]] | None:
    """The lines of a region, dedented, and where the regions inside it stand; None when there is no such region."""
    text, regions = unmarked(source)
    if name not in regions:
        return None
    whole = regions[name]
    before = whole.start - 1
    inside = {
        inner: range(lines.start - before, lines.stop - before)
        for inner, lines in regions.items()
        if inner != name and whole.start <= lines.start and lines.stop <= whole.stop
    }
    return textwrap.dedent("\n".join(text.split("\n")[before : whole.stop - 1])), inside


def shown(source: str, name: str = "") -> tuple[str, Mapping[str, range]]:
    """A region, or the whole text without a name or when there is no such region; and where the regions in it stand."""
    return (region(source, name) if name else None) or unmarked(source)
