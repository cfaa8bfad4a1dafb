"""Draw the places of a GPU where a number can live, from an SM down to DRAM, with what was measured in each of them.

The first levels belong to an SM, of which one is drawn in full; the last two, L2 and DRAM, belong to the whole chip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag, text

WIDTH = 400
_SM, _OTHER, _ROW, _GAP, _TOP = 262.0, 24.0, 38.0, 8.0, 26.0
_OF_CHIP = 2
"""The levels at the end that belong to the whole chip."""


@dataclass(frozen=True, slots=True)
class Level:
    """A place where a number can live; `facts` are its latency and its rate as text."""

    name: str
    facts: str


def render_chip(title: str, levels: Sequence[Level], *, id: str) -> Markup:
    """Return the chip as SVG; `id` is unique on the page, and the ids of its title and description begin with it."""
    inner, outer = levels[:-_OF_CHIP], levels[-_OF_CHIP:]
    bottom = _TOP + _GAP + len(inner) * (_ROW + _GAP)
    content = [
        tag("title", title, id=f"{id}-title"),
        tag("desc", "; ".join(f"{level.name}: {level.facts}" for level in levels) + ".", id=f"{id}-desc"),
        text("one SM", 8, _TOP - 10, "b"),
        text("the other SMs", WIDTH - 8, _TOP - 10, "e"),
        _box(8, _TOP, _SM, bottom - _TOP, "area"),
        *_stack(inner, 16, _TOP + _GAP, _SM - 16),
        *(_box(x, _TOP, _OTHER, bottom - _TOP, "area") for x in _others()),
        path(
            "".join(f"M{at(x)} {at(bottom)}v{at(_GAP + 6)}" for x in (8 + _SM / 2, *(x + 12 for x in _others()))), "way"
        ),
        *_stack(outer, 8, bottom + _GAP + 6, WIDTH - 16),
    ]
    height = bottom + _GAP + 6 + len(outer) * (_ROW + _GAP)
    size = {"viewBox": f"0 0 {WIDTH} {height:g}", "width": WIDTH, "height": height}
    return tag("svg", join(content), class_="chart", role="img", **size, aria_labelledby=f"{id}-title {id}-desc")


def _others() -> tuple[float, ...]:
    """Return the left ends of the SMs that are drawn without their contents."""
    return tuple(_SM + 20 + n * (_OTHER + 6) for n in range(4))


def _stack(levels: Sequence[Level], x: float, y: float, width: float) -> Iterator[Markup]:
    for n, level in enumerate(levels):
        top = y + n * (_ROW + _GAP)
        yield _box(x, top, width, _ROW, "box")
        yield text(level.name, x + 10, top + 16, "b")
        yield text(level.facts, x + 10, top + 31)


def _box(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    return tag("rect", class_=class_, x=at(x), y=at(y), width=at(width), height=at(height))
