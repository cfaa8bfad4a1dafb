"""Join two versions of a program into one listing that marks new and deleted lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sitegen.markup.lines import Regions
from sitegen.markup.regions import shown
from sitegen.model.listing import Look


def kernel_listing(source: str, region: str, look: Look, before: str | None = None) -> tuple[str, Look, Regions]:
    """Return the part of a source that a page shows; where `before` is given, the difference to the same part of it."""
    code, regions = shown(source, region)
    return (code, look, regions) if before is None else difference(shown(before, region)[0], code, regions, look)


def difference(
    old: str, new: str, regions: Regions, look: Look, keys: Callable[[str], str] = str
) -> tuple[str, Look, Regions]:
    """Return both texts joined line by line, the look with the marked lines, and the moved regions of the new text.

    `keys` turns a text into as many lines, which are compared in its place; the lines of the new text are shown.
    """
    from difflib import SequenceMatcher  # late, because few pages have a difference

    before, after = _lines(old), _lines(new)
    lines: list[str] = []
    gone: list[str] = []
    added: list[str] = []
    place: dict[int, int] = {}
    for kind, start, stop, first, last in SequenceMatcher(
        None, _lines(keys(old)), _lines(keys(new)), autojunk=False
    ).get_opcodes():
        if kind != "equal":
            gone += map(str, range(len(lines) + 1, len(lines) + 1 + stop - start))
            lines += before[start:stop]
            added += map(str, range(len(lines) + 1, len(lines) + 1 + last - first))
        place.update((at + 1, len(lines) + 1 + at - first) for at in range(first, last))
        lines += after[first:last]
    moved = {
        name: range(place[lines_of_region.start], place[lines_of_region.stop - 1] + 1)
        for name, lines_of_region in regions.items()
        if lines_of_region
    }
    inserted = ",".join([*([look.inserted] if look.inserted else []), *added])
    return "\n".join(lines), replace(look, inserted=inserted, deleted=",".join(gone)), moved


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")
