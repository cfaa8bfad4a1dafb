"""Cut a source file to the part that a page shows: between `# region: NAME` and `# endregion`, or all of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

_BEGIN = re.compile(r"\s*(?:#|//)\s*region:\s*([\w.-]+)\s*$")
_END = re.compile(r"\s*(?:#|//)\s*endregion\b.*$")


def region_names(source: str) -> tuple[str, ...]:
    return tuple(match[1] for line in source.split("\n") if (match := _BEGIN.match(line)))


def unmarked(source: str) -> tuple[str, Mapping[str, range]]:
    """Return the text without the lines that mark regions, and the lines of each region in it, counted from 1.

    A region that is never closed goes to the end.  If two regions have one name, the first counts.
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
    """Return the lines of a region, dedented, and the lines of the regions inside it; None when it does not exist."""
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
    """Return a region and the lines of the regions in it; the whole text if there is no such region or no name."""
    return (region(source, name) if name else None) or unmarked(source)
