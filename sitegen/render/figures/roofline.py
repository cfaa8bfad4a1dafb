"""Draw a roofline as SVG: the limits of the machine (solid: measured, dashed: datasheet) and a point for each program.

Both axes are logarithmic: FLOP per byte, and TFLOP/s.  A program has a point at the intensity of the cost formula.
Where its DRAM bytes were counted, it has a smaller point at that intensity and the same height, and the bar between the
two points is the re-read factor.  Points that differ only in time stand above each other, so `bandwidth_panel.py` shows
the same rates on a linear axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, join, path, polyline, tag, text
from sitegen.render.figures.axes import Tick, apart, axis_title, number
from sitegen.render.figures.labels import drawn, leader, text_width
from sitegen.render.figures.roofline_axes import (
    BOTTOM,
    HEIGHT,
    LABEL_UP,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Field,
    Point,
    Roofline,
    axes_of,
    levels,
    slope_of,
)
from sitegen.render.figures.roofline_names import (
    Placed,
    floor_labels,
    label_of,
    memory_label,
    roof_labels,
    slope_labels,
    spots_around,
    spots_beside,
    taken_shapes,
)
from sitegen.render.shared import numbers


def render_roofline(chart: Roofline, *, id: str, named: bool = False, beside: Sequence[Roofline] = ()) -> Markup:
    """Return the roofline as SVG; `id` is unique on the page, and the ids of its title and description begin with it.

    With `named` the points are different kernels, and no path connects them.  The charts `beside` show the same
    on other GPUs; all of them have the same axes.
    """
    labels = {point.name: point.name if named else label_of(chart, point) for point in chart.points}
    every = [label_of(one, point) for one in (chart, *beside) for point in one.points]
    widest = max((text_width(label, bold=True) for label in every), default=0.0)
    field = axes_of(chart, 0.0 if named else widest, beside)
    lines, drops = [*_datasheet_lines(chart, field), *_measured_lines(chart, field)], _ridge_lines(chart, field)
    taken = taken_shapes(chart, field, [points for _, points in lines])
    spots = spots_around(chart, labels, field, taken) if named else {}
    roofs = [label for roof in chart.roofs for label in roof_labels(roof, chart, field, taken)]
    first = [*roofs, memory_label(chart, field, taken), *floor_labels(chart, field, taken)]
    spots = spots or spots_beside(chart, labels, field, taken)
    for _, points in drops:  # after the names beside points, which may cover a dotted line
        taken.add_line(points)
    parts = [
        tag("title", f"Roofline of {chart.kernel} on {chart.gpu}", id=f"{id}-title"),
        tag("desc", describe(chart), id=f"{id}-desc"),
        axis_title(chart.letter, "TFLOP/s", 6.0),
        *_grid(field),
        *(path(polyline(points), class_) for class_, points in (*drops, *lines)),
        *first,
        *slope_labels(chart, field, taken),
        *([] if named else _path(chart, field)),
        *(_drawn_point(point, field, spots.get(point.name)) for point in chart.points),
    ]
    role = "group" if any(point.href for point in chart.points) else "img"
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": WIDTH, "height": HEIGHT, "role": role}
    return tag("svg", join(parts), class_="chart", **size, aria_labelledby=f"{id}-title {id}-desc")


def describe(chart: Roofline) -> str:
    """Return the content of the chart in words."""
    slopes = [f"{slope.name} {numbers.bandwidth(slope.bytes_per_s)}" for slope in chart.slopes]
    roofs = [f"{roof.name} {numbers.operations(roof.flops_per_s)}" for roof in chart.roofs]
    ridges = ", ".join(f"{roof.name} at {numbers.intensity(chart.ridge(roof))}" for roof in chart.roofs)
    points = "; ".join(f"{p.name} {numbers.operations(p.flops_per_s)}" for p in chart.points)
    beside = f" Ridges, FLOP per byte: {ridges}." if ridges else ""
    where = f" At {numbers.intensity(chart.points[0].flops_per_byte)} FLOP per byte: {points}." if chart.points else ""
    return f"Log-log. Measured roofs: {', '.join([*slopes, *roofs])}.{beside}{where}"


def _grid(field: Field) -> list[Markup]:
    x, y = field.x, field.y
    lines = [f"M{at(x(d))} {at(TOP)}V{at(BOTTOM)}" for d in x.decades]
    lines += [f"M{at(LEFT)} {at(y(d))}H{at(RIGHT)}" for d in y.decades]
    below = f"M0 {at(BOTTOM + 4)}" + "".join(f"m{at(step)}-4v4" for step in _steps(x.minor))
    beside = f"M{at(LEFT - 4)} 0" + "".join(f"m4 {at(step)}h-4" for step in _steps(y.minor))
    across = [
        text(t.name, t.at, BOTTOM + 20, "mid") for t in apart((Tick(x(d), number(d)) for d in x.named), end=WIDTH)
    ]
    up = [text(number(d / 1e12), LEFT - 8, y(d) + LABEL_UP, "e") for d in y.named if y(d) < BOTTOM - 5]
    frame = f"M{at(LEFT)} {at(TOP)}V{at(BOTTOM)}H{at(RIGHT)}{below}{beside}"
    titles = [text("FLOP per byte", (LEFT + RIGHT) / 2, BOTTOM + 40, "mid")]
    return [path("".join(lines), "grid"), path(frame, "axis"), *across, *up, *titles]


def _steps(places: Iterable[float]) -> Iterator[float]:
    """Yield the distance from each place to the next.  All decades have the same distances, which compress well."""
    return (place - before for before, place in itertools.pairwise((0.0, *places)))


_Line = tuple[str, list[Pair]]
"""The class of a line, and its points."""


def _datasheet_lines(chart: Roofline, field: Field) -> Iterator[_Line]:
    """Yield the lines of the datasheet, for the values that it states."""
    tops = [roof.datasheet_flops_per_s for roof in chart.roofs if roof.datasheet_flops_per_s]
    memory = chart.slopes[0].datasheet_bytes_per_s
    if memory or tops:
        yield from (("sheetline", points) for points in _below(tops, memory, chart.memory, field))


def _measured_lines(chart: Roofline, field: Field) -> Iterator[_Line]:
    tops = [roof.flops_per_s for roof in chart.roofs]
    for slope in levels(chart, field):
        begin, end = slope_of(chart, field, slope.bytes_per_s)
        flat = [field.at(max(tops) / chart.memory, max(tops))] if tops else []
        yield "level", [begin, end, *flat]
    yield from (("roof", points) for points in _below(tops, chart.memory, chart.memory, field))


def _below(tops: Sequence[float], memory: float | None, other: float, field: Field) -> Iterator[list[Pair]]:
    """Yield the slope with the highest roof as one line, and each lower roof from its ridge on.

    Without `memory` there is no slope, and the roofs begin at their ridges with `other`.
    """
    top = max(tops, default=field.y.high)
    begin, corner = field.slope(memory or other, top)
    flat = [(RIGHT, field.y(top))] if tops else []
    yield [*([begin] if memory else []), corner, *flat]
    for lower in tops:
        if lower < top:
            yield [field.at(lower / (memory or other), lower), (RIGHT, field.y(lower))]


def _ridge_lines(chart: Roofline, field: Field) -> list[_Line]:
    corners = [field.at(chart.ridge(roof), roof.flops_per_s) for roof in chart.roofs]
    return [("drop", [(x, y), (x, BOTTOM)]) for x, y in corners]


def _path(chart: Roofline, field: Field) -> list[Markup]:
    """Return the path from our first program to our last.  It leads through the DRAM points when all our programs have
    one, because these show the bytes that moved.
    """
    ours = [point for point in chart.points if point.ours]
    counted = all(point.dram_flops_per_byte for point in ours)
    xs = [point.dram_flops_per_byte if counted else point.flops_per_byte for point in ours]
    places = [field.at(x, point.flops_per_s) for x, point in zip(xs, ours, strict=True) if x]
    return [path(polyline(places), "way")] if len(places) > 1 else []


def _drawn_point(point: Point, field: Field, placed: Placed | None) -> Markup:
    """Return a point with its whisker, its re-read bar and its name, as one link to its row."""
    x, y = field.mark(point)
    line = "ownline" if point.ours else "baseline"
    parts = whisker(x, field.y(point.low_flops_per_s), field.y(point.high_flops_per_s), line, cap=3.0)
    counted = field.x(point.dram_flops_per_byte) if point.dram_flops_per_byte else x
    if visibly_differ(counted, x):
        parts += [path(f"M{at(counted)} {at(y)}H{at(x)}", f"{line} reread"), dot(counted, y, point, 3.5)]
    if point.sustained_flops_per_s:
        below, class_ = field.y(point.sustained_flops_per_s), "held" if point.ours else "held v"
        diamond = path(f"M{at(x)} {at(below - 6)}l6 6-6 6-6-6z", class_)  # a diamond, because a ring means a prediction
        parts += [path(f"M{at(x)} {at(y)}V{at(below)}", line), diamond]
    parts.append(dot(x, y, point, 5.0))
    if placed:
        name, spot = placed
        parts = [leader(spot), *parts, drawn(name, spot, "st" if point.stale else "o" if point.ours else "b")]
    words = point.title or f"{point.name}: {numbers.operations(point.flops_per_s)}"
    inside = join([tag("title", words), *parts, tag("circle", class_="hit", cx=x, cy=y, r="12")])
    return tag("a", inside, href=point.href) if point.href else tag("g", inside)


def whisker(x: float, low: float, high: float, line: str, cap: float = 0.0) -> list[Markup]:
    """Return a line from p80 to p20, with caps of `cap` pixels to each side; nothing when both are at one place."""
    caps = f"M{at(x - cap)} {at(low)}h{at(2 * cap)}M{at(x - cap)} {at(high)}h{at(2 * cap)}" if cap else ""
    return [path(f"M{at(x)} {at(low)}V{at(high)}{caps}", line)] if visibly_differ(low, high) else []


def visibly_differ(one: float, other: float) -> bool:
    """Return whether two places of a chart differ by a visible distance."""
    return abs(one - other) >= 1.0


def dot(x: float, y: float, point: Point, radius: float) -> Markup:
    """Return the mark of a program: a disc for ours, a square for a baseline, a hollow disc with a broken edge for a
    stale result.
    """
    if point.stale:
        return tag("circle", class_="stalept", cx=x, cy=y, r=radius)
    if point.ours:
        return tag("circle", class_="own", cx=x, cy=y, r=radius)
    side = radius * 1.7
    return tag("rect", class_="base", x=x - side / 2, y=y - side / 2, width=side, height=side)
