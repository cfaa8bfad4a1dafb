"""Name the values along the axes of charts, without names that touch each other, and draw frames and titles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag, text
from sitegen.render.figures.labels import text_width
from sitegen.render.shared import numbers

BINARY = ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


@dataclass(frozen=True, slots=True)
class Area:
    """The rectangle between the axes of a chart, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A value on an axis: its pixel and its name."""

    at: float
    name: str


def apart(ticks: Iterable[Tick], gap: float = 6.0, *, end: float = math.inf) -> Iterator[Tick]:
    """Yield the ticks of a horizontal axis whose names do not touch the name before.

    A name that would reach beyond `end`, the right edge of the picture, is moved to the left.
    """
    free = 0.0
    for tick in ticks:
        half = text_width(tick.name) / 2
        middle = min(tick.at, end - half)
        if middle - half >= free:
            free = middle + half + gap
            yield replace(tick, at=middle)


def every_nth(ticks: Sequence[Tick]) -> Sequence[Tick]:
    """Return every tick of a linear axis or, where the names would touch, every second, every third, and so on."""
    thinned = (ticks[::n] for n in range(1, len(ticks) + 1))
    return next((kept for kept in thinned if len(list(apart(kept))) == len(kept)), ticks[:1])


def number(value: float) -> str:
    """Return a value of an axis as texts write it: `0.5`, `1000`, `10,000`, `2e-7`."""
    if 0 < abs(value) < 1e-4:
        return numbers.error(value)
    return f"{value:.6g}" if value < 10_000 else f"{value:,.0f}"


def round_values(low: float, high: float) -> list[float]:
    """Return four to eight round values from `low` to `high`, which differ."""
    raw = (high - low) / 8
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= raw)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def size_number(value: float) -> str:
    """Return a value that is often a multiple of 1024: `4096`, `16Ki`, `256Mi`; others as in `number`."""
    if value >= 10_000 and value % 2**10 == 0:
        scale, unit = next((scale, unit) for scale, unit in BINARY if value >= scale)
        if value % (scale / 4) == 0:
            return f"{value / scale:.6g}{unit}"
    return number(value)


def frame(area: Area, below: Sequence[float] = ()) -> Markup:
    """Return both axes, with a mark at each of the pixels `below` under the horizontal one."""
    marks = "".join(f"M{at(x)} {at(area.bottom)}v4" for x in below)
    return path(f"M{at(area.left)} {at(area.top)}V{at(area.bottom)}H{at(area.right)}{marks}", "axis")


def rules(area: Area, ticks: Iterable[Tick]) -> list[Markup]:
    """Return a line across the chart and a name beside it for each tick of the vertical axis."""
    shown = list(ticks)
    lines = "".join(f"M{at(area.left)} {at(tick.at)}H{at(area.right)}" for tick in shown if tick.at < area.bottom - 1)
    return [path(lines, "grid"), *(text(tick.name, area.left - 7, tick.at + 4, "e") for tick in shown)]


def axis_title(letter: str, title: str, x: float) -> Markup:
    """Return the title above the vertical axis, after the letter of the picture."""
    marked = join([tag("tspan", letter, class_="b"), f"\u2002{title}"]) if letter else title
    return tag("text", marked, x=x, y=11.0)
