"""Turn `{layout} Swizzle<3,3,3> o (8,8):(8,1)` into a grid with the index of each element, its thread, or its bank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sitegen.markup.collected import Collected
from sitegen.markup.drawn.cells import GridCell, grid, shade
from sitegen.markup.drawn.figure import FigureKind, FigureSource, as_table, at_column, facts, picture
from sitegen.markup.svg import text
from sitegen.model.access import BANKS, WORD
from sitegen.model.layout import MOST_SHOWN, Layout, LayoutError, parse_layout

_VIEWS = ("threads", "tv", "banks")
_BANK = "bank of shared memory"


@dataclass(frozen=True, slots=True)
class LayoutGrid:
    """The cells of a layout by row and column."""

    layout: str
    view: str
    cells: tuple[tuple[GridCell, ...], ...]
    what: str
    """The name of the numbers in the cells: `index`."""


def _read(given: FigureSource, into: Collected) -> LayoutGrid | None:
    chosen = [view for view in _VIEWS if view in given.values]
    if len(chosen) > 1:
        names = " and ".join(f"`{view}`" for view in chosen)
        into.error("SG110", f"{names}: a layout is shown in one way", given.span(chosen[1]), "write two figures")
        return None
    if not given.fence.argument:
        into.error("SG111", "the directive `{layout}` needs a layout, `{layout} (8,8):(8,1)`", given.fence.span)
        return None
    try:
        layout = parse_layout(given.fence.argument)
    except LayoutError as mistake:
        span = at_column(given.fence.argument_span, mistake.col)
        into.error("SG130", f"this is no layout: {mistake.message}", span, mistake.hint)
        return None
    if len(layout.sizes) > 2 or layout.size > MOST_SHOWN:
        problem = f"{layout.size} elements" if layout.size > MOST_SHOWN else f"{len(layout.sizes)} modes"
        hint = f"a figure has rows and columns, `((2,4),8)`, and at most {MOST_SHOWN} elements"
        into.error("SG130", f"this layout has {problem}", given.fence.argument_span, hint)
        return None
    view = chosen[0] if chosen else ""
    cells, what = _VIEW[view](layout, given.values.get(view))
    return LayoutGrid(given.fence.argument, _given_as(view, given) if view else "", cells, what)


def _given_as(view: str, given: FigureSource) -> str:
    value = given.options.by_name[view].value
    return f"at {value} bytes an element" if view == "banks" else f"by {value}"


Grid = tuple[tuple[GridCell, ...], ...]


def _extent(layout: Layout) -> tuple[int, int]:
    """Return the numbers of rows and columns of a layout."""
    sizes = layout.sizes
    return (sizes[0], sizes[1]) if len(sizes) == 2 else (1, sizes[0])


def _cells(layout: Layout, cell: Callable[[int, int], GridCell]) -> Grid:
    rows, columns = _extent(layout)
    return tuple(tuple(cell(row, column) for column in range(columns)) for row in range(rows))


def _index(layout: Layout, row: int, column: int) -> int:
    return layout(row, column) if len(layout.sizes) == 2 else layout(column)


def _indices(layout: Layout, _given: object) -> tuple[Grid, str]:
    _, columns = _extent(layout)

    def cell(row: int, column: int) -> GridCell:
        index = _index(layout, row, column)
        return GridCell(str(index), shade(index, columns))

    return _cells(layout, cell), "index"


def _threads(layout: Layout, threads: Layout) -> tuple[Grid, str]:
    """Return a grid with the thread of each element: the layout of the threads repeats over the tile."""
    high, wide = _extent(threads)

    def cell(row: int, column: int) -> GridCell:
        thread = _index(threads, row % high, column % wide)
        return GridCell(f"T{thread}", shade(thread))

    return _cells(layout, cell), "thread"


def _thread_values(layout: Layout, tv: Layout) -> tuple[Grid, str]:
    """Return a grid with the thread and the value of each element.

    `tv` maps a thread and a value to a position in the tile, which is counted down its columns, as in CuTe.
    """
    threads, values = tv.sizes if len(tv.sizes) == 2 else (tv.size, 1)
    owners: dict[int, tuple[int, int]] = {}
    for value in range(values):
        for thread in range(threads):
            owners.setdefault(tv(thread, value) if len(tv.sizes) == 2 else tv(thread), (thread, value))
    rows, _ = _extent(layout)

    def cell(row: int, column: int) -> GridCell:
        owner = owners.get(column * rows + row)
        return GridCell(f"T{owner[0]}", shade(owner[0]), f"V{owner[1]}" if values > 1 else "") if owner else GridCell()

    return _cells(layout, cell), "thread and value" if values > 1 else "thread"


def _banks(layout: Layout, itemsize: int) -> tuple[Grid, str]:
    def cell(row: int, column: int) -> GridCell:
        bank = _index(layout, row, column) * itemsize // WORD % BANKS
        return GridCell(str(bank), shade(bank, BANKS))

    return _cells(layout, cell), _BANK


_VIEW: Mapping[str, Callable[[Layout, Any], tuple[Grid, str]]] = {
    "": _indices,
    "threads": _threads,
    "tv": _thread_values,
    "banks": _banks,
}


def _draw(shown: LayoutGrid, alt: str) -> str:
    rows, columns = len(shown.cells), len(shown.cells[0])
    longest = max(len(cell.text) for line in shown.cells for cell in line)
    width, height = max(24.0, 7.0 * longest + 7), 36.0 if any(c.below for line in shown.cells for c in line) else 24.0
    left, top = 14.0 + 7 * len(str(rows - 1)), 20.0
    content = [*_numbers(range(columns), left, width, top), *_rows(rows, left, top, height)]
    content += grid(shown.cells, left, top, width, height)
    size = left + columns * width + 1, top + rows * height + 1
    return picture(content, *size, alt or _words(shown), f"Layout {shown.layout}") + facts(_facts(shown))


def _facts(shown: LayoutGrid) -> list[tuple[str, str]]:
    numbers = f"{shown.what}{f', {shown.view}' if shown.view else ''}"
    return [("layout", shown.layout), ("numbers", numbers), *(_different_banks(shown) if shown.what == _BANK else ())]


def _different_banks(shown: LayoutGrid) -> Iterator[tuple[str, str]]:
    """Yield how many banks a row and a column of the layout touch at least."""
    for name, lines in (("banks of a row", shown.cells), ("banks of a column", tuple(zip(*shown.cells, strict=True)))):
        yield name, f"{min(len({cell.text for cell in line}) for line in lines)} for {len(lines[0])} elements"


def _text(shown: LayoutGrid) -> str:
    rows = ([row, *(f"{cell.text} {cell.below}".strip() for cell in line)] for row, line in enumerate(shown.cells))
    return as_table(f"The {shown.what} of each element", ["", *range(len(shown.cells[0]))], rows)


def _numbers(columns: Iterable[int], left: float, width: float, top: float) -> list[Markup]:
    return [text(str(n), left + (n + 0.5) * width, top - 6, "mid") for n in columns]


def _rows(rows: int, left: float, top: float, height: float) -> list[Markup]:
    return [text(str(n), left - 6, top + (n + 0.5) * height + 4, "e") for n in range(rows)]


def _words(shown: LayoutGrid) -> str:
    rows, columns = len(shown.cells), len(shown.cells[0])
    first = ", ".join(f"{cell.text} {cell.below}".strip() or "none" for cell in shown.cells[0][:8])
    more = ", …" if columns > 8 else ""
    view = f", {shown.view}" if shown.view else ""
    return (
        f"Layout {shown.layout}{view}: {rows} rows of {columns}, each with its {shown.what}. First row: {first}{more}."
    )


FIGURE = FigureKind(_read, _draw, _text, _facts)
