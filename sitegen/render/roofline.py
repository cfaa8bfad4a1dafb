"""A roofline as SVG: what the machine allows (solid: measured, dashed: datasheet) and where each program stands.

Log-log, FLOP per byte against TFLOP/s.  Points that differ only in time stand above each other, so `panel.py` shows
the same points beside it on a linear axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.render import numbers
from sitegen.render.svg import Log, at, decade_above, decade_below, join, path, polyline, tag, text

_WIDTH, _HEIGHT = 490, 388
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 466.0, 18.0, 336.0


@dataclass(frozen=True, slots=True)
class Slope:
    """A memory level: its name and what it delivers."""

    name: str
    bytes_per_s: float
    datasheet_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Roof:
    """The arithmetic of one dtype."""

    name: str
    flops_per_s: float
    datasheet_flops_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A program: its algorithmic intensity and what it reached, with p20 to p80 of its time as rates."""

    name: str
    flops_per_byte: float
    flops_per_s: float
    low_flops_per_s: float
    high_flops_per_s: float
    ours: bool
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Roofline:
    gpu: str
    kernel: str
    slope: Slope
    roofs: Sequence[Roof]
    points: Sequence[Point]
    """In the order in which they were written; ours are joined by a path."""
    letter: str = ""
    """Of the picture, when there are two: `a`."""

    def ridge(self, roof: Roof) -> float:
        """The intensity, FLOP/byte, from which arithmetic is the limit."""
        return roof.flops_per_s / self.slope.bytes_per_s


def render_roofline(chart: Roofline, *, id: str, named: bool = False) -> Markup:
    """The SVG; `id` is unique on the page and names its title and description.

    `named`: the points are different kernels, each with its own name beside it and no path between them.
    """
    x, y = _axes(chart)
    parts = [
        tag("title", f"Roofline of {chart.kernel} on {chart.gpu}", id=f"{id}-title"),
        tag("desc", describe(chart), id=f"{id}-desc"),
        axis_title(chart.letter, "TFLOP/s", 6.0),
        *_grid(x, y),
        *_datasheet(chart, x, y),
        *_roofs(chart, x, y),
        *(_named_points(chart, x, y) if named else _points(chart, x, y)),
    ]
    box = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT, "role": "img"}
    return tag("svg", join(parts), class_="chart", **box, aria_labelledby=f"{id}-title {id}-desc")


def describe(chart: Roofline) -> str:
    """The chart in words."""
    roofs = ", ".join(f"{roof.name} {numbers.operations(roof.flops_per_s)}" for roof in chart.roofs)
    ridges = ", ".join(f"{roof.name} at {numbers.intensity(chart.ridge(roof))}" for roof in chart.roofs)
    points = "; ".join(f"{p.name} {numbers.operations(p.flops_per_s)}" for p in chart.points)
    slope = f"{chart.slope.name} {numbers.bandwidth(chart.slope.bytes_per_s)}"
    beside = f" Ridges, FLOP per byte: {ridges}." if ridges else ""
    where = f" At {numbers.intensity(chart.points[0].flops_per_byte)} FLOP per byte: {points}." if chart.points else ""
    return f"Log-log. Measured roofs: {slope}{', ' if roofs else ''}{roofs}.{beside}{where}"


def _axes(chart: Roofline) -> tuple[Log, Log]:
    """Whole decades around every point and every ridge."""
    intensities = [p.flops_per_byte for p in chart.points]
    x_low = decade_below(min([*intensities, 0.99]) * 0.7)
    x_high = decade_above(max([*(x * 1.5 for x in intensities), *(chart.ridge(r) * 4 for r in chart.roofs), 10.0]))
    tops = [rate for r in chart.roofs for rate in (r.flops_per_s, r.datasheet_flops_per_s or 0.0)]
    y_high = max([*tops, *(p.high_flops_per_s for p in chart.points)], default=x_high * chart.slope.bytes_per_s)
    y_low = min([*(p.low_flops_per_s for p in chart.points), x_low * chart.slope.bytes_per_s])
    x = Log(x_low, x_high, _LEFT, _RIGHT)
    return x, Log(decade_below(y_low * 0.7), decade_above(y_high * 1.4), _BOTTOM, _TOP)


def _grid(x: Log, y: Log) -> list[Markup]:
    lines = [f"M{at(x(d))} {at(_TOP)}V{at(_BOTTOM)}" for d in x.decades[1:]]
    lines += [f"M{at(_LEFT)} {at(y(d))}H{at(_RIGHT)}" for d in y.decades[1:]]
    ticks = [f"M{at(x(m))} {at(_BOTTOM)}v4" for m in x.minor] + [f"M{at(_LEFT)} {at(y(m))}h-4" for m in y.minor]
    across = [text(_decade(d), x(d), _BOTTOM + 18, "mid") for d in x.decades]
    up = [text(_decade(d / 1e12), _LEFT - 8, y(d) + 4, "e") for d in y.decades]
    frame = f"M{at(_LEFT)} {at(_TOP)}V{at(_BOTTOM)}H{at(_RIGHT)}{''.join(ticks)}"
    titles = [text("FLOP per byte", (_LEFT + _RIGHT) / 2, _BOTTOM + 40, "mid")]
    return [path("".join(lines), "grid"), path(frame, "axis"), *across, *up, *titles]


def _decade(value: float) -> str:
    return f"{value:g}" if value < 10_000 else f"{value:,.0f}".replace(",", numbers.NBSP)


def _datasheet(chart: Roofline, x: Log, y: Log) -> list[Markup]:
    """Dashed: the slope up to the highest roof, and each flat line to the right of its ridge."""
    slope = chart.slope.datasheet_bytes_per_s
    if slope is None:
        return []
    roofs = [roof for roof in chart.roofs if roof.datasheet_flops_per_s]
    top = max((roof.datasheet_flops_per_s or 0.0 for roof in roofs), default=y.high)
    parts = [path(_line(slope, top, x, y), "sheetline")]
    for roof in roofs:
        rate = roof.datasheet_flops_per_s or 0.0
        if rate < top:
            parts.append(path(f"M{at(x(rate / slope))} {at(y(rate))}H{at(_RIGHT)}", "sheetline"))
        parts.append(text(f"datasheet {numbers.printed(rate / 1e12)}", _RIGHT, y(rate) - 6, "e"))
    label = f"datasheet {numbers.with_unit(numbers.printed(slope / 1e12), 'TB/s')}"
    return [*parts, _along(label, slope, top, chart, (x, y), above=True)]


def _roofs(chart: Roofline, x: Log, y: Log) -> list[Markup]:
    slope = chart.slope.bytes_per_s
    top = max((roof.flops_per_s for roof in chart.roofs), default=y.high)
    parts = [path(_line(slope, top, x, y), "roof")]
    for roof in chart.roofs:
        ridge = chart.ridge(roof)
        if roof.flops_per_s < top:
            parts.append(path(f"M{at(x(ridge))} {at(y(roof.flops_per_s))}H{at(_RIGHT)}", "roof"))
        label = f"{roof.name} {numbers.significant(roof.flops_per_s / 1e12, 3)}"
        parts.append(text(label, x(ridge) + 8, y(roof.flops_per_s) + 15, "b halo"))
        down = f"M{at(x(ridge))} {at(y(roof.flops_per_s) + 3)}V{at(_BOTTOM)}"
        parts.append(tag("path", class_="axis", d=down, stroke_dasharray="1 3"))
        parts.append(text(numbers.intensity(ridge), x(ridge), _BOTTOM - 6, "halo mid"))
    label = f"{chart.slope.name} {numbers.bandwidth(slope)}"
    return [*parts, _along(label, slope, top, chart, (x, y), above=False)]


def _line(slope: float, top: float, x: Log, y: Log) -> str:
    """From the left edge up the slope, then flat to the right edge; the slope alone when it leaves the chart first."""
    ridge = min(top / slope, x.high, y.high / slope)
    corner = (x(ridge), y(ridge * slope))
    flat = [(_RIGHT, y(top))] if ridge < x.high and top < y.high else []
    return polyline([(_LEFT, y(x.low * slope)), corner, *flat])


def _along(label: str, slope: float, top: float, chart: Roofline, axes: tuple[Log, Log], *, above: bool) -> Markup:
    """A label that lies on a slope, between the last point that hangs from it and the first ridge."""
    x, y = axes
    ridge = min([top / slope, x.high, *(chart.ridge(roof) for roof in chart.roofs)])
    hanging = [p.flops_per_byte for p in chart.points if p.flops_per_byte < ridge / 4]
    left, right = max(hanging, default=x.low), ridge
    begin, end = (x(left), y(left * slope)), (x(right), y(right * slope))
    turn = math.atan2(end[1] - begin[1], end[0] - begin[0])
    away = -6.0 if above else 15.0
    middle = ((begin[0] + end[0]) / 2 - away * math.sin(turn), (begin[1] + end[1]) / 2 + away * math.cos(turn))
    move = f"translate({at(middle[0])} {at(middle[1])}) rotate({at(math.degrees(turn))})"
    return tag("text", label, class_="mid halo" if above else "b mid halo", transform=move)


def _points(chart: Roofline, x: Log, y: Log) -> list[Markup]:
    ours = [(x(p.flops_per_byte), y(p.flops_per_s)) for p in chart.points if p.ours]
    parts = [path(polyline(ours), "ownline")] if len(ours) > 1 else []
    for point in chart.points:
        place = x(point.flops_per_byte)
        low, high = y(point.low_flops_per_s), y(point.high_flops_per_s)
        parts.append(path(f"M{at(place)} {at(low)}V{at(high)}", "ownline" if point.ours else "axis"))
        parts.append(dot(place, y(point.flops_per_s), point))
    if chart.points:
        lowest = max(y(point.flops_per_s) for point in chart.points)
        place = x(max(point.flops_per_byte for point in chart.points))
        label = f"{chart.kernel}, {numbers.intensity(chart.points[0].flops_per_byte)} FLOP/byte"
        left = place > _RIGHT - 170
        parts.append(text(label, place - 10 if left else place + 14, lowest + 18, "o halo e" if left else "o halo"))
    return parts


def _named_points(chart: Roofline, x: Log, y: Log) -> list[Markup]:
    """Names to the lower right, where a slope leaves room; one that would cover the name before it moves down."""
    parts: list[Markup] = []
    free = 0.0
    for point in sorted(chart.points, key=lambda p: -p.flops_per_s):
        place, height = x(point.flops_per_byte), y(point.flops_per_s)
        flat = any(point.flops_per_byte > chart.ridge(roof) for roof in chart.roofs)
        free = max(free, height + (30 if flat else 14))  # below the name of the roof
        right = place > _RIGHT - 110
        class_ = f"halo {'st' if point.stale else 'o'}{' e' if right else ''}"
        parts += [dot(place, height, point), text(point.name, place - 10 if right else place + 10, free, class_)]
        free += 15
    return parts


def axis_title(letter: str, title: str, x: float) -> Markup:
    """What the upward axis shows, above it; before it the picture's letter."""
    marked = join([tag("tspan", letter, class_="b"), f"\u2002{title}"]) if letter else title
    return tag("text", marked, x=x, y=11.0)


def dot(x: float, y: float, point: Point) -> Markup:
    """Ours is a disc, a baseline a square, a stale one hollow with a broken edge."""
    name = tag("title", f"{point.name}: {numbers.operations(point.flops_per_s)}")
    if point.stale:
        return tag("circle", name, class_="stalept", cx=x, cy=y, r="5")
    if point.ours:
        return tag("circle", name, class_="own", cx=x, cy=y, r="5")
    return tag("rect", name, class_="base", x=x - 4, y=y - 4, width="8", height="8")
