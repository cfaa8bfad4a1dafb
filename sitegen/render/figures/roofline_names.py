"""Place the names in a roofline so that none covers a line or another name.

The name of a point, roof, slope or ridge stands beside it, or farther away with a leader.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, join, path
from sitegen.render.figures.labels import PITCH, Spot, Taken, box, drawn, leader, outline, spread, take_first_free
from sitegen.render.figures.roofline_axes import (
    BOTTOM,
    LABEL_UP,
    LEFT,
    RIGHT,
    TOP,
    Field,
    Point,
    Roof,
    Roofline,
    Slope,
    levels,
    slope_of,
)
from sitegen.render.shared import numbers

Placed = tuple[str, Spot]
"""A text and its spot."""


def taken_shapes(chart: Roofline, field: Field, lines: Iterable[Sequence[Pair]]) -> Taken:
    """Return the shapes that no name may cover: the lines, the points with their whiskers and bars, and everything
    outside of the axes.
    """
    taken = Taken()
    for points in lines:
        taken.add_line(points)
    for point in chart.points:
        (x, y), (low, high) = field.mark(point), (point.low_flops_per_s, point.high_flops_per_s)
        taken.marks.append(box(x - 5, y - 5, x + 5, y + 5))
        taken.add_line([(x, field.y(low)), (x, field.y(high))])
        if point.dram_flops_per_byte:
            taken.add_line([(field.x(point.dram_flops_per_byte) - 3, y), (x, y)], 6.0)
        if point.sustained_flops_per_s:
            below = field.y(point.sustained_flops_per_s)
            taken.marks.append(box(x - 5, min(y, below) - 5, x + 5, max(y, below) + 5))
    beyond = 10_000.0
    walls = (-beyond, 0.0, LEFT + 2, beyond), (RIGHT + 2, 0.0, beyond, beyond)
    floors = (-beyond, -beyond, beyond, TOP - 6), (-beyond, BOTTOM - 1, beyond, beyond)
    taken.lines += [box(*wall) for wall in (*walls, *floors)]
    return taken


def label_of(chart: Roofline, point: Point) -> str:
    """Return the name of a point; ours begins with the number of its step: `3 fused`."""
    ours = [p.name for p in chart.points if p.ours]
    return f"{ours.index(point.name) + 1} {point.name}" if point.ours and len(ours) > 1 else point.name


def spots_beside(chart: Roofline, labels: Mapping[str, str], field: Field, taken: Taken) -> dict[str, Placed]:
    """Return a spot for each name: all names in one column beside the points, in the order of their heights.

    The column with the shortest leaders is taken.  Where no column is free, each name gets a place near its own point.
    """
    points = sorted(chart.points, key=lambda p: (-p.flops_per_s, p.name))
    texts, marks = [labels[point.name] for point in points], [field.mark(point) for point in points]
    for _, heights, x, align in sorted(_columns(points, field)):
        spots = [_beside(mark, x, y, align) for mark, y in zip(marks, heights, strict=True)]
        outlines = [outline(name, spot, bold=True) for name, spot in zip(texts, spots, strict=True)]
        if all(taken.free(shape) for shape in outlines):
            taken.marks += outlines
            for spot in spots:
                taken.add_line(spot.leader or ())
            return {p.name: (name, spot) for p, name, spot in zip(points, texts, spots, strict=True)}
    return spots_around(chart, labels, field, taken)


def _columns(points: Sequence[Point], field: Field) -> Iterator[tuple[float, list[float], float, str]]:
    """Yield (cost, heights, x, alignment) of every column.  Columns that are near, on the right and at the height of
    their points cost least.
    """
    if not points:
        return
    places = [field.mark(point)[1] for point in points]
    ends = [field.x(x) for p in points for x in (p.flops_per_byte, p.dram_flops_per_byte) if x]
    starts, stops = range(int(TOP) + 8, int(BOTTOM) - 40, 10), range(int(BOTTOM) - 8, int(TOP) + 60, -16)
    for start, stop in itertools.product(starts, stops):
        if stop - start < PITCH * (len(points) - 1):
            continue
        heights = spread(places, PITCH, float(start), float(stop))
        steps = [abs(height - y) for height, y in zip(heights, places, strict=True)]
        moved = max(steps) / 2 + sum(steps) / len(steps)
        for away in range(18, 240, 16):
            yield away + moved, heights, max(ends) + away, ""
            yield away + moved + 40, heights, min(ends) - away, "e"


def _beside(mark: Pair, x: float, y: float, align: str) -> Spot:
    """Return the spot of a name at the height `y`, with a leader to its mark."""
    side = -1 if align else 1
    return Spot(x, y + LABEL_UP, align, leader=((mark[0] + 7 * side, mark[1]), (x - 3 * side, y)))


def spots_around(chart: Roofline, labels: Mapping[str, str], field: Field, taken: Taken) -> dict[str, Placed]:
    """Return a spot near its own point for each name.

    The names are placed from the highest point down or from the lowest up, whichever needs the shorter leaders.
    """
    down = sorted(chart.points, key=lambda p: -p.flops_per_s)
    tried = [_in_order(points, labels, field, taken) for points in (down, down[::-1])]
    named, marked = min(tried, key=lambda one: _length_of_leaders(one[0].values(), len(down)))
    taken.lines, taken.marks = marked.lines, marked.marks
    return named


def _in_order(
    points: Iterable[Point], labels: Mapping[str, str], field: Field, taken: Taken
) -> tuple[dict[str, Placed], Taken]:
    """Return the spots when each name in turn takes its first free one, and what is taken then."""
    named, marked = {}, Taken([*taken.lines], [*taken.marks])
    for point in points:
        name = labels[point.name]
        if spot := take_first_free(name, _around(*field.mark(point)), marked, bold=True):
            named[point.name] = (name, spot)
    return named, marked


def _length_of_leaders(placed: Collection[Placed], names: int) -> float:
    """Return the length of all leaders in pixels; a name without a place counts as a leader across the chart."""
    return sum(math.dist(*spot.leader) for _, spot in placed if spot.leader) + RIGHT * (names - len(placed))


def _around(x: float, y: float) -> Iterator[Spot]:
    """Yield spots close to a point first, then farther away with a leader.  Spots below come before spots above,
    because there is more room under a slope.
    """
    yield from (Spot(x + 10, y + 14), Spot(x + 11, y + LABEL_UP), Spot(x, y + 23, "mid"), Spot(x - 10, y + 15, "e"))
    yield from (Spot(x - 11, y + LABEL_UP, "e"), Spot(x + 10, y - 8), Spot(x, y - 11, "mid"), Spot(x - 10, y - 8, "e"))
    for away in range(24, 310, 14):
        for degrees in (60, 30, 90, 0, 75, 45, 15, 105, 120, -15, -30, 135, 150, -45, -60, 165, 180, -90, -120, -150):
            dx, dy = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            to = x + away * dx, y + away * dy
            align = "e" if dx < -0.1 else "" if dx > 0.1 else "mid"
            end = to[0] - 3 * (dx > 0.1) + 3 * (dx < -0.1), to[1] - (9 if align == "mid" else 0)
            yield Spot(to[0], to[1] + LABEL_UP, align, leader=((x + 7 * dx, y + 7 * dy), end))


def roof_labels(roof: Roof, chart: Roofline, field: Field, taken: Taken) -> Iterator[Markup]:
    """Yield the measured rate below the two lines of a roof, and the datasheet's rate above them."""
    begin, y = field.at(chart.ridge(roof), roof.flops_per_s)
    sheet = field.y(roof.datasheet_flops_per_s or roof.flops_per_s)
    measured = f"{roof.name} {numbers.significant(roof.flops_per_s / 1e12, 3)}"
    yield _named(measured, _on_flat(begin, y, sheet), taken, "b")
    if roof.datasheet_flops_per_s:
        printed = f"datasheet {numbers.printed(roof.datasheet_flops_per_s / 1e12)}"
        yield _named(printed, _on_flat(begin, sheet, y), taken)


def memory_label(chart: Roofline, field: Field, taken: Taken) -> Markup:
    """Return the name of the first slope, below it."""
    label, line = _rate(chart.slopes[0]), slope_of(chart, field, chart.memory)
    return _named(label, itertools.chain(_along(*line, below=True), _aside(*line)), taken, "b")


def slope_labels(chart: Roofline, field: Field, taken: Taken) -> list[Markup]:
    """Return the names of the other slopes above them, or in a free corner where there is no room above."""
    wanted = [(_rate(slope), slope_of(chart, field, slope.bytes_per_s)) for slope in levels(chart, field)]
    if sheet := chart.slopes[0].datasheet_bytes_per_s:
        printed = f"datasheet {numbers.with_unit(numbers.printed(sheet / 1e12), 'TB/s')}"
        wanted.append((printed, slope_of(chart, field, sheet)))
    near = [_named(label, _along(*line, below=False), taken) for label, line in wanted]
    far = [_named(label, _aside(*line), taken) for n, (label, line) in enumerate(wanted) if not near[n]]
    return [*near, *far]


def _rate(slope: Slope) -> str:
    return f"{slope.name} {numbers.bandwidth(slope.bytes_per_s)}"


def floor_labels(chart: Roofline, field: Field, taken: Taken) -> Iterator[Markup]:
    """Yield the intensity of each ridge, and that of the points when all have the same."""
    for roof in chart.roofs:
        ridge = chart.ridge(roof)
        yield _named(f"ridge {numbers.intensity(ridge)}", _on_floor(field.x(ridge)), taken)
    shared = {point.flops_per_byte for point in chart.points}
    for intensity in shared if len(shared) == 1 else ():
        yield path(f"M{at(field.x(intensity))} {at(BOTTOM)}v-6", "ownline")
        yield _named(numbers.intensity(intensity), _on_floor(field.x(intensity)), taken, "o")


def _named(label: str, spots: Iterable[Spot], taken: Taken, class_: str = "") -> Markup:
    """Return a label with its leader, or nothing where there is no room: the table states the same number."""
    spot = take_first_free(label, spots, taken, bold=class_ in ("b", "o"))
    return join([leader(spot), drawn(label, spot, class_)]) if spot else Markup()


def _on_flat(begin: float, y: float, other: float) -> Iterator[Spot]:
    """Yield spots along a flat line, from its right end back to the ridge: first on the side away from the line at
    `other`, then beyond `other`, then far away.
    """
    rights = [float(right) for right in range(int(RIGHT) - 2, int(begin) + 30, -12)]
    under, over = max(y, other) + 15, min(y, other) - 8
    for height in (under, over) if y >= other else (over, under):
        yield from (Spot(right, height, "e") for right in rights)
    for away in range(24, 90, 8):
        for x in rights:
            yield Spot(x, y - away, "e", leader=((x - 12, y), (x - 12, y - away + 4)))
            yield Spot(x, y + away, "e", leader=((x - 12, y), (x - 12, y + away - 12)))


def _on_floor(x: float) -> Iterator[Spot]:
    """Yield spots beside the foot of a vertical line, then higher ones."""
    for up in range(6, 120, 14):
        yield Spot(x + 5, BOTTOM - up)
        yield Spot(x - 5, BOTTOM - up, "e")


def _along(begin: Pair, end: Pair, *, below: bool) -> Iterator[Spot]:
    """Yield spots parallel to a slope, on one side of it.  Spots below begin far up, to leave the room beside the
    points to their names.
    """
    turn, away = math.atan2(end[1] - begin[1], end[0] - begin[0]), -16.0 if below else 8.0
    for x, y in _on_slope(begin, end, 0.75 if below else 0.5):
        yield Spot(x + away * math.sin(turn), y - away * math.cos(turn), "mid", turn)


def _aside(begin: Pair, end: Pair) -> Iterator[Spot]:
    """Yield level spots with a leader, in the corner above all slopes, then in the corner below."""
    for side in (-1, 1):
        for x, y in itertools.islice(_on_slope(begin, end, 0.5), 0, None, 4):
            for away, lean in itertools.product(range(24, 260 if side < 0 else 110, 12), (0.5, 0.8, 0.2)):
                to = x + side * away * lean, y + side * away
                end_of_leader = to[0] + side * 6, to[1] + (5 if side < 0 else -12)
                yield Spot(*to, "mid" if lean < 0.3 else "e" if side < 0 else "", leader=((x, y), end_of_leader))


def _on_slope(begin: Pair, end: Pair, first: float) -> Iterator[Pair]:
    """Yield places along a slope, beginning at the share `first` of its length and moving outwards."""
    for share in sorted((n / 60 for n in range(6, 55)), key=lambda share: abs(share - first)):
        yield begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share
