"""Draw the read bandwidth of a GPU by the size of a working set that is read repeatedly: stairs from L2 to DRAM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, join, path, polyline, tag, text
from sitegen.render.figures.axes import Area, Tick, apart, frame, number, rules
from sitegen.render.figures.labels import Spot, Taken, box, drawn, take_first_free
from sitegen.render.figures.scales import Linear, Log
from sitegen.render.shared import numbers

MIB = "MiB"
_WIDTH, _HEIGHT = 480, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 38.0, 470.0, 20.0, 244.0


@dataclass(frozen=True, slots=True)
class Stairs:
    gpu: str
    steps: Mapping[int, float]
    """The bandwidth in bytes per second by the size of the working set in MiB, ascending; at least two entries."""
    l2_bytes: int
    dram_bytes_per_s: float | None = None
    """The read bandwidth of the DRAM, which is a ceiling."""


def render_staircase(stairs: Stairs, *, id: str) -> Markup:
    """Return the chart as SVG; `id` is unique on the page, and the ids of its title and description begin with it."""
    x = Log(min(stairs.steps) / 1.25, max(stairs.steps) * 1.25, _LEFT, _RIGHT)
    y = Linear(0.0, max([*stairs.steps.values(), stairs.dram_bytes_per_s or 0.0]) * 1.15 / 1e12, _BOTTOM, _TOP)
    points = [(x(float(mib)), y(rate / 1e12)) for mib, rate in stairs.steps.items()]
    taken = _taken(stairs, x, y, points)
    about = ", ".join(f"{mib} {MIB} {numbers.bandwidth(rate)}" for mib, rate in stairs.steps.items())
    parts = [
        tag("title", f"Rate of reading by working set on {stairs.gpu}", id=f"{id}-title"),
        tag("desc", f"{about}.", id=f"{id}-desc"),
        text("TB/s", 4.0, 11.0),
        *_grid(stairs, x, y),
        *_limits(stairs, x, y, taken),
        path(polyline(points), "roof"),
        *_points(stairs, points, taken),
    ]
    size = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT, "role": "img"}
    return tag("svg", join(parts), class_="chart", **size, aria_labelledby=f"{id}-title {id}-desc")


def _taken(stairs: Stairs, x: Log, y: Linear, points: list[Pair]) -> Taken:
    taken = Taken()
    taken.add_line(points)
    taken.marks += [box(px - 5, py - 5, px + 5, py + 5) for px, py in points]
    l2 = x(stairs.l2_bytes / 2**20)
    taken.add_line([(l2, _TOP), (l2, _BOTTOM)])
    if stairs.dram_bytes_per_s:
        taken.add_line([(_LEFT, y(stairs.dram_bytes_per_s / 1e12)), (_RIGHT, y(stairs.dram_bytes_per_s / 1e12))])
    walls = (-1000.0, 0.0, _LEFT + 2, 1000.0), (_RIGHT + 4, 0.0, 9000.0, 1000.0), (-1000.0, _BOTTOM - 1, 9000.0, 1000.0)
    taken.lines += [box(*wall) for wall in walls]
    return taken


def _grid(stairs: Stairs, x: Log, y: Linear) -> list[Markup]:
    area, sets = Area(_LEFT, _RIGHT, _TOP, _BOTTOM), [Tick(x(float(mib)), str(mib)) for mib in stairs.steps]
    return [
        *rules(area, (Tick(y(tick), number(tick)) for tick in y.ticks)),
        frame(area, [tick.at for tick in sets]),
        *(text(tick.name, tick.at, _BOTTOM + 20, "mid") for tick in apart(sets)),
        text(f"working set, {MIB}", (_LEFT + _RIGHT) / 2, _BOTTOM + 42, "mid"),
    ]


def _limits(stairs: Stairs, x: Log, y: Linear, taken: Taken) -> Iterator[Markup]:
    """Yield the lines and names of the L2 size and of the read bandwidth of the DRAM."""
    l2 = x(stairs.l2_bytes / 2**20)
    yield path(f"M{at(l2)} {at(_TOP)}V{at(_BOTTOM)}", "drop")
    spots = [Spot(l2 + side, _BOTTOM - up, align) for up in (8, 24, 40) for side, align in ((6, ""), (-6, "e"))]
    yield from _named(f"L2 {numbers.printed(stairs.l2_bytes / 2**20)} {MIB}", spots, taken)
    if stairs.dram_bytes_per_s:
        height = y(stairs.dram_bytes_per_s / 1e12)
        yield path(f"M{at(_LEFT)} {at(height)}H{at(_RIGHT)}", "level")
        spots = [Spot(_LEFT + 8 + along, height + down) for down in (15, -8) for along in range(0, 300, 20)]
        yield from _named(f"DRAM, read {numbers.bandwidth(stairs.dram_bytes_per_s)}", spots, taken)


def _points(stairs: Stairs, points: list[Pair], taken: Taken) -> Iterator[Markup]:
    """Yield the points.  The first, the last and the fastest have their bandwidth beside them, and so has each point
    after a drop.
    """
    rates = list(stairs.steps.values())
    falls = {n + 1 for n, (a, b) in enumerate(pairwise(rates)) if b < 0.9 * a}
    labelled = {0, len(rates) - 1, rates.index(max(rates)), *falls}
    for n, ((mib, rate), (px, py)) in enumerate(zip(stairs.steps.items(), points, strict=True)):
        words = tag("title", f"{mib} {MIB}: {numbers.bandwidth(rate)}")
        yield tag("circle", words, class_="base", cx=px, cy=py, r="4.5")
        if n in labelled:
            spots = [
                Spot(px, py - 11, "mid"),
                Spot(px + 9, py - 6),
                Spot(px, py + 20, "mid"),
                Spot(px - 9, py + 14, "e"),
            ]
            yield from _named(numbers.significant(rate / 1e12, 3), spots, taken, "b")


def _named(label: str, spots: list[Spot], taken: Taken, class_: str = "") -> Iterator[Markup]:
    spot = take_first_free(label, spots, taken, bold=class_ == "b")
    if spot:
        yield drawn(label, spot, class_)
