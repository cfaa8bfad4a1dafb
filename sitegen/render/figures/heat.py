"""Draw a quantity over two others as a grid of cells: the darker a cell, the larger its value, which stands in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.markup.svg import join, tag, text
from sitegen.render.figures.axes import Tick, apart, axis_title
from sitegen.render.figures.labels import text_width

WIDTH = 400
_TOP, _RIGHT, _ROW, _BELOW = 22.0, 390.0, 30.0, 62.0
_NAME, _MOST_LEFT = 18.0, 90.0
"""The height of a name above its row, and the widest name that stands to the left of its row instead."""
_FAINTEST, _DARKEST = 0.06, 0.5
"""The opacity of the cells of the least and of the largest value; on both the text has enough contrast."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    column: str
    row: str
    value: float
    written: str
    """The value in the cell, with few digits."""
    words: str
    """The cell in words: `UNROLL 4, THREADS 1024: 4.04 TB/s`."""
    href: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Heat:
    title: str
    x_title: str
    y_title: str
    columns: Sequence[str]
    rows: Sequence[str]
    """The names of the rows from top to bottom."""
    cells: Sequence[HeatCell]
    """At least one; a place without a cell stays empty."""


def render_heat(chart: Heat, *, id: str, beside: Sequence[Heat] = ()) -> Markup:
    """Return the chart as SVG; `id` is unique on the page, and the ids of its title and description begin with it.

    The shades of the charts `beside`, which show the same on other GPUs, have the same meaning.
    """
    widest = max(text_width(row) for row in chart.rows)
    above = _NAME if widest > _MOST_LEFT else 0.0
    left, pitch = 4.0 if above else 16 + widest, _ROW + above
    width = (_RIGHT - left) / len(chart.columns)
    bottom = _TOP + pitch * len(chart.rows)
    values = [cell.value for one in (chart, *beside) for cell in one.cells]
    low, high = min(values), max(values)
    across = [Tick(left + (n + 0.5) * width, name) for n, name in enumerate(chart.columns)]
    fits = all(text_width(cell.written) < width - 2 for cell in chart.cells)
    content = [
        tag("title", chart.title, id=f"{id}-title"),
        tag("desc", "; ".join(cell.words for cell in chart.cells) + ".", id=f"{id}-desc"),
        axis_title("", chart.y_title, 4.0),
        *(
            _cell(
                cell,
                left + chart.columns.index(cell.column) * width,
                _TOP + chart.rows.index(cell.row) * pitch + above,
                width,
                _shade(cell, low, high),
                fits,
            )
            for cell in chart.cells
        ),
        *(
            text(row, left, _TOP + n * pitch + 14) if above else text(row, left - 7, _TOP + (n + 0.5) * _ROW + 4, "e")
            for n, row in enumerate(chart.rows)
        ),
        *_column_names(across, width, bottom),
        text(chart.x_title, (left + _RIGHT) / 2, bottom + 52, "mid"),
    ]
    linked = any(cell.href for cell in chart.cells)
    size = {"viewBox": f"0 0 {WIDTH} {bottom + _BELOW:g}", "width": WIDTH, "height": bottom + _BELOW}
    role = "group" if linked else "img"
    return tag("svg", join(content), class_="chart", role=role, **size, aria_labelledby=f"{id}-title {id}-desc")


def _column_names(across: Sequence[Tick], width: float, bottom: float) -> Iterator[Markup]:
    """Yield the name of each column; shapes such as `8192 × 512` stand on two lines where one is too narrow."""
    if all(text_width(tick.name) < width for tick in across):
        yield from (text(tick.name, tick.at, bottom + 18, "mid") for tick in across)
        return
    halves = [tick.name.partition("\u00a0×") for tick in across]
    for first in apart(replace(tick, name=half[0]) for tick, half in zip(across, halves, strict=True)):
        yield text(first.name, first.at, bottom + 16, "mid")
    for second in apart(
        replace(tick, name=f"×{half[2]}") for tick, half in zip(across, halves, strict=True) if half[2]
    ):
        yield text(second.name, second.at, bottom + 32, "mid")


def _shade(cell: HeatCell, low: float, high: float) -> float:
    part = (cell.value - low) / (high - low) if high > low else 1.0
    return round(_FAINTEST + part * (_DARKEST - _FAINTEST), 2)


def _cell(cell: HeatCell, x: float, y: float, width: float, shade: float, fits: bool) -> Markup:
    """Return a cell as a link to its row; its value is left out where some value of the chart is too wide."""
    size: dict[str, object] = {"x": x + 1, "y": y + 1, "width": width - 2, "height": _ROW - 2}
    parts = [
        tag("title", cell.words),
        tag("rect", "", class_="stalept" if cell.stale else "own", fill_opacity=f"{shade:g}", **size),
        *([text(cell.written, x + width / 2, y + _ROW / 2 + 4, "b mid")] if fits else []),
        tag("rect", "", class_="hit", **size),
    ]
    return tag("a", join(parts), href=cell.href) if cell.href else tag("g", join(parts))
