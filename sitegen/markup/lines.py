"""Turn lines as an author names them, `3,5-7,inner`, into their numbers in a listing, or into a mistake.

Lines count from 1 in the listing as it is shown, whatever number stands beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sitegen.diagnostics import did_you_mean
from sitegen.model.listing import Look, Note

_NUMBERS = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
Regions = Mapping[str, range]


@dataclass(frozen=True, slots=True)
class NoSuchLines:
    """A name of lines in an option that the listing does not have."""

    option: str
    part: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Lines:
    """The numbers of a listing's marked lines, by kind of mark."""

    highlighted: frozenset[int] = frozenset()
    focused: frozenset[int] = frozenset()
    inserted: frozenset[int] = frozenset()
    deleted: frozenset[int] = frozenset()
    notes: Mapping[int, tuple[tuple[Note, bool], ...]] = field(default_factory=dict)
    """The notes at each line, by its number; the flag is true at the first line of the note."""


NO_LINES = Lines()


def names_lines(look: Look) -> bool:
    """Return whether some option names lines."""
    return bool(look.highlighted or look.focused or look.inserted or look.deleted or look.notes)


def names_regions(look: Look) -> bool:
    """Return whether some option names lines by their region."""
    return names_lines(look) and any(not _NUMBERS.fullmatch(part) for _, part in _named(look))


def resolve(look: Look, count: int, regions: Regions) -> tuple[Lines, tuple[NoSuchLines, ...]]:
    """Return the lines that `look` names in a listing of `count` lines, and the names without lines."""
    if not names_lines(look):
        return NO_LINES, ()
    wrong = [mistake for option, part in _named(look) if (mistake := _mistake(option, part, count, regions))]
    wrong += _both(look, count, regions)

    def numbers(written: str) -> frozenset[int]:
        return frozenset(_numbers(parts_of(written), count, regions))

    lines = Lines(
        highlighted=numbers(look.highlighted),
        focused=numbers(look.focused),
        inserted=numbers(look.inserted),
        deleted=numbers(look.deleted),
        notes=_places(look.notes, count, regions),
    )
    return lines, tuple(wrong)


def parts_of(written: str) -> list[str]:
    return written.split(",") if written else []


def _named(look: Look) -> Iterator[tuple[str, str]]:
    """Yield each name of lines with its option."""
    written = {"hl": look.highlighted, "focus": look.focused, "ins": look.inserted, "del": look.deleted}
    for option, text in written.items():
        yield from ((option, part) for part in parts_of(text))
    yield from (("annotate", part) for note in look.notes for part in note.lines)


def _range(part: str, count: int, regions: Regions) -> range:
    """Return the lines of one name; empty when it names none."""
    if match := _NUMBERS.fullmatch(part):
        first, last = int(match[1]), int(match[2] or match[1])
        return range(first, last + 1) if 1 <= first <= last <= count else range(0)
    return regions.get(part, range(0))


def _numbers(parts: Iterable[str], count: int, regions: Regions) -> Iterator[int]:
    for part in parts:
        yield from _range(part, count, regions)


def _places(notes: Iterable[Note], count: int, regions: Regions) -> dict[int, tuple[tuple[Note, bool], ...]]:
    places: dict[int, tuple[tuple[Note, bool], ...]] = {}
    for note in notes:
        firsts = [named.start for part in note.lines if (named := _range(part, count, regions))]
        for line in dict.fromkeys(firsts):
            places[line] = (*places.get(line, ()), (note, line == firsts[0]))
    return places


def _mistake(option: str, part: str, count: int, regions: Regions) -> NoSuchLines | None:
    if _range(part, count, regions):
        return None
    if match := _NUMBERS.fullmatch(part):
        whole = f"this listing of {count} line{'' if count == 1 else 's'}"
        return NoSuchLines(option, part, f"`{part}` names no lines of {whole}", _meant(match, count))
    known = did_you_mean(part, regions) or (
        f"known: {', '.join(f'`{name}`' for name in regions)}"
        if regions
        else "write `# region: NAME` above its lines and `# endregion` below them"
    )
    return NoSuchLines(option, part, f"unknown region `{part}` of this listing", known)


def _meant(match: re.Match[str], count: int) -> str:
    first, last = int(match[1]), int(match[2] or match[1])
    if 1 <= last < first <= count:
        return f"did you mean `{last}-{first}`?"
    if 1 <= first <= count < last:
        return f"did you mean `{first}-{count}`?" if first < count else f"did you mean `{count}`?"
    return "lines count from 1"


def _both(look: Look, count: int, regions: Regions) -> Iterator[NoSuchLines]:
    inserted = set(_numbers(parts_of(look.inserted), count, regions))
    for part in parts_of(look.deleted):
        if twice := inserted.intersection(_range(part, count, regions)):
            yield NoSuchLines("del", part, f"line {min(twice)} is both inserted and deleted", "choose one")
