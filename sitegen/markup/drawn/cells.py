"""Draw a grid of numbered cells in eight shades, with one path for each shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag

SHADES = 8


@dataclass(frozen=True, slots=True)
class GridCell:
    text: str = ""
    class_: str = "gap"
    """A shade, or `gap` for a cell without content."""
    below: str = ""
    """A second line."""
    columns: int = 1


def shade(number: int, of: int = SHADES) -> str:
    """Return the class of the shade of `number` among `of` numbers; from `of` on the shades repeat."""
    return f"g{number % of * SHADES // of}"


def box(x: float, y: float, width: float, height: float) -> str:
    """Return the `d` of a rectangle."""
    return f"M{at(x)} {at(y)}h{at(width)}v{at(height)}h{at(-width)}z"


def grid(cells: Sequence[Sequence[GridCell]], left: float, top: float, width: float, height: float) -> list[Markup]:
    """Return the elements of a grid whose upper left corner is at (left, top)."""
    boxes: dict[str, list[tuple[float, float, float]]] = {}
    words: list[Markup] = []
    for row, line in enumerate(cells):
        x, y = left, top + row * height
        upper: list[Markup] = []
        lower: list[Markup] = []
        for cell in line:
            wide = cell.columns * width
            boxes.setdefault(cell.class_, []).append((x, y, wide))
            upper += [tag("tspan", cell.text, x=x + wide / 2)] if cell.text else []
            lower += [tag("tspan", cell.below, x=x + wide / 2)] if cell.below else []
            x += wide
        middle = y + height / 2
        words += [tag("text", join(upper), class_="mid i", y=middle + (-3 if lower else 4))] if upper else []
        words += [tag("text", join(lower), class_="mid i", y=middle + 11)] if lower else []
    return [*(path(_boxes(places, height), class_) for class_, places in sorted(boxes.items())), *words]


def _boxes(places: Sequence[tuple[float, float, float]], height: float) -> str:
    """Return the `d` of boxes given by x, y and width; steps from box to box compress better than coordinates."""
    parts, x0, y0 = [], 0.0, 0.0
    for x, y, width in places:
        parts.append(f"m{at(x - x0)} {at(y - y0)}h{at(width)}v{at(height)}h{at(-width)}z")
        x0, y0 = x, y
    return "".join(parts)
