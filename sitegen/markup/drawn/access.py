"""Turn `{memory-access}` with a formula for the address of each lane into sectors, or into banks and passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from sitegen.diagnostics import Span
from sitegen.markup.collected import Collected
from sitegen.markup.drawn.cells import GridCell, grid
from sitegen.markup.drawn.figure import (
    FigureKind,
    FigureSource,
    as_table,
    at_column,
    facts,
    grouped,
    note,
    percent,
    picture,
)
from sitegen.markup.svg import path, text
from sitegen.model.access import BANKS, LANES, LINE, SECTOR, WORD, Access
from sitegen.model.formula import FormulaError, evaluate_int
from sitegen.model.layout import Layout

_WORDS = LINE // WORD
_TOP, _WIDTH = 20.0, 22.0
_FARTHEST = 2**48
_WAYS = ("address", "stride", "layout")


@dataclass(frozen=True, slots=True)
class AccessFigure:
    access: Access
    memory: str
    """`global` or `shared`."""
    where: str
    """The addresses in the author's words."""


def _read(given: FigureSource, into: Collected) -> AccessFigure | None:
    values = given.values
    ways = [way for way in _WAYS if way in values]
    if len(ways) != 1:
        hint = "one of `:address: lane * 4`, `:stride: 32`, or `:layout: (32,32):(32,1)` with `:at: lane, 0`"
        problem = "needs the address of each lane" if not ways else f"has both `{ways[0]}` and `{ways[1]}`"
        into.error("SG111", f"the directive `{{memory-access}}` {problem}", given.span(ways[1] if ways else ""), hint)
        return None
    width = values.get("width", WORD)
    itemsize = values.get("element", width)
    addresses = _ADDRESSES[ways[0]](given, itemsize, into)
    if addresses is None or not _allowed(addresses, width, given.span(ways[0]), into):
        return None
    where = {"address": "address {}", "stride": "stride {}", "layout": "{}"}[ways[0]]
    where = where.format(given.options.by_name[ways[0]].value)
    if "at" in values:
        where += f" at ({values['at']})"
    return AccessFigure(Access(addresses, width), values.get("memory", "global"), where)


Addresses = tuple[int, ...] | None


def _by_formula(given: FigureSource, _itemsize: int, into: Collected) -> Addresses:
    return _formula(given.values["address"], given.span("address"), into)


def _by_stride(given: FigureSource, itemsize: int, _into: Collected) -> Addresses:
    return tuple(lane * given.values["stride"] * itemsize for lane in range(LANES))


def _by_layout(given: FigureSource, itemsize: int, into: Collected) -> Addresses:
    layout: Layout = given.values["layout"]
    parts = _parts(given.values.get("at", "lane"))
    if len(parts) not in (1, len(layout.sizes)):
        message = f"a coordinate of this layout has {len(layout.sizes)} numbers, or 1"
        into.error("SG131", message, given.span("at"), "one formula a mode, as in `:at: lane, 0`")
        return None
    modes = [_formula(part, _part_span(given.span("at"), at, part), into) for at, part in parts]
    coordinates = [mode for mode in modes if mode is not None]
    if len(coordinates) < len(modes):
        return None
    sizes = layout.sizes if len(modes) > 1 else (layout.size,)
    for size, mode, (at, part) in zip(sizes, coordinates, parts, strict=True):
        outside = [lane for lane, place in enumerate(mode) if not 0 <= place < size]
        if outside:
            message = f"lane {outside[0]} is at {mode[outside[0]]}, and this mode has {size}"
            into.error("SG131", message, _part_span(given.span("at"), at, part))
            return None
    return tuple(layout(*place) * itemsize for place in zip(*coordinates, strict=True))


_ADDRESSES = {"address": _by_formula, "stride": _by_stride, "layout": _by_layout}


def _parts(given: str) -> list[tuple[int, str]]:
    """Return the formulas between the commas that are outside of parentheses, each with its offset."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(given + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and (not depth or at == len(given)):
            part = given[start:at]
            parts.append((start + len(part) - len(part.lstrip()), part.strip()))
            start = at + 1
    return parts


def _part_span(span: Span, at: int, part: str) -> Span:
    return Span(span.path, span.line, span.col + at, max(len(part), 1))


def _formula(formula: str, span: Span, into: Collected) -> Addresses:
    try:
        return tuple(evaluate_int(formula, {"lane": lane}) for lane in range(LANES))
    except FormulaError as mistake:
        hint = "the only name is `lane`, 0 to 31" if "unknown name" in mistake.message else ""
        into.error("SG131", f"this is no formula: {mistake}", at_column(span, mistake.col), hint)
        return None


def _allowed(addresses: tuple[int, ...], width: int, span: Span, into: Collected) -> bool:
    for lane, address in enumerate(addresses):
        if not 0 <= address < _FARTHEST:
            into.error("SG131", f"lane {lane} is at byte {address}, outside of any memory", span)
            return False
        if address % width:
            message = f"lane {lane} asks for {width} bytes at byte {address}"
            into.error("SG131", message, span, f"the GPU faults where an address is no multiple of {width}")
            return False
    return True


def _draw(shown: AccessFigure, alt: str) -> str:
    return (_draw_shared if shown.memory == "shared" else _draw_global)(shown, alt)


def _text(shown: AccessFigure) -> str:
    return (_text_shared if shown.memory == "shared" else _text_global)(shown)


def _height(rows: int) -> float:
    """Return the height of a row in pixels: rows are lower when there are many, so that the reader need not scroll."""
    return 22.0 if rows <= 12 else 16.0


def _draw_global(shown: AccessFigure, alt: str) -> str:
    access = shown.access
    lines, sectors = access.blocks(LINE), frozenset(access.sectors)
    side = 14.0 + 7 * len(str(lines[-1] * LINE))
    words, height, step = access.words(), _height(len(lines)), _WIDTH * SECTOR / WORD
    rows = [_merged(_line(line, words, sectors, access)) for line in lines]
    content = grid(rows, side, _TOP, _WIDTH, height)
    content += [text(f"+{at * SECTOR}", side + at * step + 2, _TOP - 6) for at in range(LINE // SECTOR)]
    content += [text(f"{line * LINE}", side - 6, _TOP + (n + 0.5) * height + 4, "e") for n, line in enumerate(lines)]
    edges = (f"M{side + at * step:g} {_TOP:g}v{len(lines) * height:g}" for at in range(LINE // SECTOR + 1))
    content.append(path("".join(edges), "edge"))
    said = f"{_subject(shown)} Of {_count(len(sectors), 'sector')} moved, {percent(access.efficiency)} was asked for."
    moved = "grey was moved for nothing" if access.efficiency < 1 else ""
    how = note("a cell is a word of 4 bytes with the lane that asks for it", moved, _shared_words(rows))
    return _framed(content, side, len(rows), alt or said) + facts(_facts(shown)) + how


def _facts(shown: AccessFigure) -> list[tuple[str, str]]:
    access = shown.access
    if shown.memory == "shared":
        passes = f"{access.passes}, at best {len(access.phases)}"
        return [("bank conflict", _conflict(access)), *_phases(access, "phases"), ("passes", passes)]
    return [
        ("asked for", f"{grouped(access.bytes_asked)} bytes"),
        ("moved", f"{_count(len(access.sectors), 'sector')}, {grouped(access.bytes_moved)} bytes"),
        ("cache lines", str(len(access.blocks(LINE)))),
        *_phases(access, "requests"),
        ("efficiency", percent(access.efficiency)),
    ]


def _text_global(shown: AccessFigure) -> str:
    words = shown.access.words()
    rows = ((sector * SECTOR, _ranges(_lanes_in(words, sector))) for sector in shown.access.sectors)
    return as_table("Which lanes touch which sector", ["sector at byte", "lanes"], rows)


def _line(
    line: int, words: Mapping[int, tuple[int, ...]], sectors: frozenset[int], access: Access
) -> Iterator[tuple[GridCell, object]]:
    """Yield a cell for each word of a cache line, with a key that neighbours share if they become one cell."""
    for word in range(line * _WORDS, (line + 1) * _WORDS):
        if word in words:
            yield _asked(words[word], access), words[word]
        else:
            yield GridCell(class_="moved" if word * WORD // SECTOR in sectors else "gap"), word


def _draw_shared(shown: AccessFigure, alt: str) -> str:
    access = shown.access
    side, height = 44.0, _height(access.passes)
    rows: list[list[GridCell]] = []
    content = [text("bank", side - 6, _TOP - 6, "e")]
    content += [text(str(bank), side + (bank + 0.5) * _WIDTH, _TOP - 6, "mid") for bank in range(0, BANKS, 4)]
    for phase in access.phases:
        if len(access.phases) > 1:
            y = _TOP + (len(rows) + 0.5) * height + 4
            content.append(text(f"{phase.start}–{phase.stop - 1}", side - 6, y, "e"))
        rows += _passes(access, phase)
    content += grid(rows, side, _TOP, _WIDTH, height)
    said = f"{_subject(shown)} Bank conflict: {_conflict(access)}; {_count(access.passes, 'pass', 'passes')}."
    how = note(
        "each row of the picture is a pass, each cell the word that a bank serves, with its lane",
        _shared_words(rows),
    )
    return _framed(content, side, len(rows), alt or said) + facts(_facts(shown)) + how


def _shared_words(rows: Sequence[Sequence[GridCell]]) -> str:
    shared = next((cell.text for line in rows for cell in line if cell.text.endswith("+")), "")
    return f"{shared} is lane {shared[:-1]} and others" if shared else ""


def _conflict(access: Access) -> str:
    degree = max(map(access.degree, access.phases))
    return f"{degree}-way" if degree > 1 else "none"


def _text_shared(shown: AccessFigure) -> str:
    access = shown.access
    banks = [(phase, bank, words) for phase in access.phases for bank, words in access.banks(phase).items()]
    rows = ([bank, len(words), _ranges(_asking(access, phase, words))] for phase, bank, words in banks)
    return as_table("Which lanes ask which bank", ["bank", "different words", "lanes"], rows)


def _passes(access: Access, phase: range) -> Iterator[list[GridCell]]:
    """Yield a row of cells for each pass, with the words that the banks deliver in it."""
    banks, words = access.banks(phase), access.words(phase)

    def cell(bank: int, turn: int) -> tuple[GridCell, object]:
        waiting = banks.get(bank, ())
        lanes = words[waiting[turn]] if turn < len(waiting) else ()
        return (_asked(lanes, access), lanes) if lanes else (GridCell(), bank)

    for turn in range(access.degree(phase)):
        yield _merged(cell(bank, turn) for bank in range(BANKS))


def _asked(lanes: Sequence[int], access: Access) -> GridCell:
    phases = access.phases
    number = lanes[0] // len(phases[0])
    return GridCell(f"{lanes[0]}+" if len(lanes) > 1 else str(lanes[0]), "g5" if number % 2 else "g7")


def _merged(cells: Iterator[tuple[GridCell, object]]) -> list[GridCell]:
    """Return the cells with neighbours of the same key joined."""
    runs = [[cell for cell, _ in run] for _, run in groupby(cells, key=lambda pair: pair[1])]
    return [GridCell(run[0].text, run[0].class_, columns=len(run)) for run in runs]


def _framed(content: list[Markup], side: float, rows: int, alt: str) -> Markup:
    """Return the picture of the rows; `side` is the width of the labels to the left of the words."""
    return picture(content, side + _WORDS * _WIDTH + 1, _TOP + rows * _height(rows) + 1, alt, "What the lanes touch")


def _subject(shown: AccessFigure) -> str:
    return f"A warp’s lanes ask for {_count(shown.access.width, 'byte')} each of {shown.memory} memory, {shown.where}."


def _phases(access: Access, name: str) -> list[tuple[str, str]]:
    phases = access.phases
    return [(name, f"{len(phases)}, of {len(phases[0])} lanes")] if len(phases) > 1 else []


def _lanes_in(words: Mapping[int, tuple[int, ...]], sector: int) -> Sequence[int]:
    first = sector * SECTOR // WORD
    return sorted({lane for word in range(first, first + SECTOR // WORD) for lane in words.get(word, ())})


def _asking(access: Access, phase: range, words: Sequence[int]) -> Sequence[int]:
    asked = access.words(phase)
    return sorted({lane for word in words for lane in asked[word]})


def _ranges(lanes: Sequence[int]) -> str:
    """Return numbers as text with ranges, such as `0–7, 9`."""
    runs = [[lane for _, lane in run] for _, run in groupby(enumerate(lanes), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{grouped(number)} {one if number == 1 else many or f'{one}s'}"


FIGURE = FigureKind(_read, _draw, _text, _facts)
