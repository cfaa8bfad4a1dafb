"""A roofline as SVG: what the machine allows (solid: measured, dashed: datasheet) and where each program stands.

Log-log, FLOP per byte against TFLOP/s.  A program is a point at the intensity of the formula and, where the bytes at
the DRAM were counted, a smaller one at that intensity and the same height; the bar between them is the re-read
factor.  Points that differ only in time stand above each other, so `panel.py` shows the same on a linear axis.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, join, path, polyline, tag, text
from sitegen.render import numbers
from sitegen.render.labels import PITCH, Spot, Taken, box, drawn, first_free, leader, outline, spread, text_width
from sitegen.render.scales import Log

_WIDTH, _HEIGHT = 440, 388
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 430.0, 20.0, 336.0
_SPAN, _DEPTH = _RIGHT - _LEFT, _BOTTOM - _TOP
_ROOF = 130.0
"""Room for the name of a roof to the right of its ridge."""
_LABEL_UP = 4.0
"""From the middle of a text down to its baseline."""


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
    dram_flops_per_byte: float | None = None
    """By the bytes that the DRAM counted; None where they are not known."""
    sustained_flops_per_s: float | None = None
    """Of a matrix kernel, whose other figures are those of a burst."""
    title: str = ""
    """The point in words; empty: its name and rate."""
    href: str = ""
    """Its row in a table."""


@dataclass(frozen=True, slots=True)
class Roofline:
    gpu: str
    kernel: str
    slopes: Sequence[Slope]
    """The memory with the mix of the kernel first, whose ridges are named; then L2 and shared memory."""
    roofs: Sequence[Roof]
    points: Sequence[Point]
    """In the order in which they were written; ours are joined by a path."""
    letter: str = ""
    """Of the picture, when there are two: `a`."""

    @property
    def memory(self) -> float:
        """Bytes per second of the first slope."""
        return self.slopes[0].bytes_per_s

    def ridge(self, roof: Roof) -> float:
        """The intensity, FLOP/byte, from which arithmetic is the limit."""
        return roof.flops_per_s / self.memory


@dataclass(frozen=True, slots=True)
class _Field:
    """The axes, and pixels of what stands between them."""

    x: Log
    y: Log

    def at(self, intensity: float, rate: float) -> Pair:
        return self.x(intensity), self.y(rate)

    def mark(self, point: Point) -> Pair:
        return self.at(point.flops_per_byte, point.flops_per_s)

    def slope(self, bytes_per_s: float, top: float) -> tuple[Pair, Pair]:
        """From where it enters the chart up to `top`, or to where it leaves the chart."""
        low = max(self.x.low, self.y.low / bytes_per_s)
        high = min(top / bytes_per_s, self.x.high, self.y.high / bytes_per_s)
        return self.at(low, low * bytes_per_s), self.at(high, high * bytes_per_s)


def render_roofline(chart: Roofline, *, id: str, named: bool = False) -> Markup:
    """The SVG; `id` is unique on the page and names its title and description.

    `named`: the points are different kernels, with no path between them.
    """
    labels = {point.name: point.name if named else _label(chart, point) for point in chart.points}
    widest = max((text_width(label, bold=True) for label in labels.values()), default=0.0)
    field = _axes(chart, 0.0 if named else widest)
    lines, drops = [*_datasheet_lines(chart, field), *_measured_lines(chart, field)], _ridge_lines(chart, field)
    taken = _taken(chart, field, [points for _, points in lines])
    spots = _spots_around(chart, labels, field, taken) if named else {}
    roofs = [label for roof in chart.roofs for label in _roof_labels(roof, chart, field, taken)]
    first = [*roofs, _memory_label(chart, field, taken), *_floor_labels(chart, field, taken)]
    spots = spots or _spots_beside(chart, labels, field, taken)
    for _, points in drops:  # a name may stand on a dotted line, where there is no other place near
        taken.add_line(points)
    parts = [
        tag("title", f"Roofline of {chart.kernel} on {chart.gpu}", id=f"{id}-title"),
        tag("desc", describe(chart), id=f"{id}-desc"),
        axis_title(chart.letter, "TFLOP/s", 6.0),
        *_grid(field),
        *(path(polyline(points), class_) for class_, points in (*drops, *lines)),
        *first,
        *_slope_labels(chart, field, taken),
        *([] if named else _path(chart, field)),
        *(_drawn_point(point, field, spots.get(point.name)) for point in chart.points),
    ]
    role = "group" if any(point.href for point in chart.points) else "img"
    size = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT, "role": role}
    return tag("svg", join(parts), class_="chart", **size, aria_labelledby=f"{id}-title {id}-desc")


def describe(chart: Roofline) -> str:
    """The chart in words."""
    slopes = [f"{slope.name} {numbers.bandwidth(slope.bytes_per_s)}" for slope in chart.slopes]
    roofs = [f"{roof.name} {numbers.operations(roof.flops_per_s)}" for roof in chart.roofs]
    ridges = ", ".join(f"{roof.name} at {numbers.intensity(chart.ridge(roof))}" for roof in chart.roofs)
    points = "; ".join(f"{p.name} {numbers.operations(p.flops_per_s)}" for p in chart.points)
    beside = f" Ridges, FLOP per byte: {ridges}." if ridges else ""
    where = f" At {numbers.intensity(chart.points[0].flops_per_byte)} FLOP per byte: {points}." if chart.points else ""
    return f"Log-log. Measured roofs: {', '.join([*slopes, *roofs])}.{beside}{where}"


def _axes(chart: Roofline, names: float) -> _Field:
    """Around every point and every ridge, with room for `names` to the right of the points and below the first."""
    ridges = [chart.ridge(roof) for roof in chart.roofs]
    across = [x for p in chart.points for x in (p.flops_per_byte, p.dram_flops_per_byte) if x]
    x_low = min([*(x / 2.5 for x in across), *(x / 8 for x in ridges)], default=0.1)
    x_high = max([*(x * 2.5 for x in across), *(x * 4 for x in ridges), x_low * 30])
    wanted = [*((x, names + 36) for x in across), *((x, _ROOF) for x in ridges)]
    x_high = max([x_high, *(x_low * (x / x_low) ** (1 / (1 - min(room / _SPAN, 0.6))) for x, room in wanted)])
    tops = [rate for roof in chart.roofs for rate in (roof.flops_per_s, roof.datasheet_flops_per_s) if rate]
    y_high = max([*tops, *(p.high_flops_per_s for p in chart.points)], default=x_high * chart.memory)
    y_high *= 2.2
    lowest = [rate for p in chart.points for rate in (p.low_flops_per_s, p.sustained_flops_per_s) if rate]
    y_low = min([*(rate / 4 for rate in lowest), x_low * chart.memory])
    if names:
        fastest, lowest_roof = max(p.flops_per_s for p in chart.points), min(tops, default=y_high)
        depth = PITCH * len(chart.points) + (76 if lowest_roof < fastest else 10)  # a column fits below that roof
        share, below = min(depth / _DEPTH, 0.65), min(fastest, lowest_roof)
        y_low = min(y_low, below * (below / y_high) ** (share / (1 - share)))
    return _Field(Log(x_low, x_high, _LEFT, _RIGHT), Log(y_low, y_high, _BOTTOM, _TOP))


def _grid(field: _Field) -> list[Markup]:
    x, y = field.x, field.y
    lines = [f"M{at(x(d))} {at(_TOP)}V{at(_BOTTOM)}" for d in x.decades]
    lines += [f"M{at(_LEFT)} {at(y(d))}H{at(_RIGHT)}" for d in y.decades]
    below = f"M0 {at(_BOTTOM + 4)}" + "".join(f"m{at(step)}-4v4" for step in _steps(x.minor))
    beside = f"M{at(_LEFT - 4)} 0" + "".join(f"m4 {at(step)}h-4" for step in _steps(y.minor))
    across = [text(_decade(d), x(d), _BOTTOM + 20, "mid") for d in _apart(x)]
    up = [text(_decade(d / 1e12), _LEFT - 8, y(d) + _LABEL_UP, "e") for d in y.named if y(d) < _BOTTOM - 5]
    frame = f"M{at(_LEFT)} {at(_TOP)}V{at(_BOTTOM)}H{at(_RIGHT)}{below}{beside}"
    titles = [text("FLOP per byte", (_LEFT + _RIGHT) / 2, _BOTTOM + 40, "mid")]
    return [path("".join(lines), "grid"), path(frame, "axis"), *across, *up, *titles]


def _steps(places: Iterable[float]) -> Iterator[float]:
    """From each place to the next: decades have the same steps, which compress well."""
    return (place - before for before, place in itertools.pairwise((0.0, *places)))


def _apart(x: Log) -> Iterator[float]:
    """The steps of the axis whose numbers stand clear of the one before."""
    free = 0.0
    for step in x.named:
        half = text_width(_decade(step)) / 2
        if x(step) - half >= free:
            free = x(step) + half + 6
            yield step


def _decade(value: float) -> str:
    return f"{value:.6g}" if value < 10_000 else f"{value:,.0f}".replace(",", numbers.NBSP)


_Line = tuple[str, list[Pair]]
"""A class and the points of what is drawn with it."""


def _datasheet_lines(chart: Roofline, field: _Field) -> Iterator[_Line]:
    """Dashed, up to where they print something."""
    tops = [roof.datasheet_flops_per_s for roof in chart.roofs if roof.datasheet_flops_per_s]
    memory = chart.slopes[0].datasheet_bytes_per_s
    if memory or tops:
        yield from (("sheetline", points) for points in _below(tops, memory, chart.memory, field))


def _measured_lines(chart: Roofline, field: _Field) -> Iterator[_Line]:
    tops = [roof.flops_per_s for roof in chart.roofs]
    for slope in _levels(chart, field):
        begin, end = _slope(chart, field, slope.bytes_per_s)
        flat = [field.at(max(tops) / chart.memory, max(tops))] if tops else []
        yield "level", [begin, end, *flat]
    yield from (("roof", points) for points in _below(tops, chart.memory, chart.memory, field))


def _below(tops: Sequence[float], memory: float | None, other: float, field: _Field) -> Iterator[list[Pair]]:
    """The slope with the highest roof as one line, and each lower roof from its own ridge; without a slope the roofs
    begin where they would with `other`.
    """
    top = max(tops, default=field.y.high)
    begin, corner = field.slope(memory or other, top)
    flat = [(_RIGHT, field.y(top))] if tops else []
    yield [*([begin] if memory else []), corner, *flat]
    for lower in tops:
        if lower < top:
            yield [field.at(lower / (memory or other), lower), (_RIGHT, field.y(lower))]


def _levels(chart: Roofline, field: _Field) -> list[Slope]:
    """The slopes of the caches that rise within the chart."""
    top = max((roof.flops_per_s for roof in chart.roofs), default=field.y.high)
    return [slope for slope in chart.slopes[1:] if top / slope.bytes_per_s > field.x.low * 1.2]


def _ridge_lines(chart: Roofline, field: _Field) -> list[_Line]:
    corners = [field.at(chart.ridge(roof), roof.flops_per_s) for roof in chart.roofs]
    return [("drop", [(x, y), (x, _BOTTOM)]) for x, y in corners]


def _taken(chart: Roofline, field: _Field, lines: Iterable[Sequence[Pair]]) -> Taken:
    """The lines, the points with what hangs on them, and all that is outside of the axes."""
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
    walls = (-beyond, 0.0, _LEFT + 2, beyond), (_RIGHT + 2, 0.0, beyond, beyond)
    floors = (-beyond, -beyond, beyond, _TOP - 6), (-beyond, _BOTTOM - 1, beyond, beyond)
    taken.lines += [box(*wall) for wall in (*walls, *floors)]
    return taken


def _label(chart: Roofline, point: Point) -> str:
    """`3 fused`: ours have the number of their step."""
    ours = [p.name for p in chart.points if p.ours]
    return f"{ours.index(point.name) + 1} {point.name}" if point.ours and len(ours) > 1 else point.name


_Placed = tuple[str, Spot]
"""A text and where it stands."""


def _spots_beside(chart: Roofline, labels: Mapping[str, str], field: _Field, taken: Taken) -> dict[str, _Placed]:
    """All names in one column beside the points, in the order of their heights; by name.

    The column that needs the shortest leaders wins; where no column is free each name looks for a place of its own.
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
    return _spots_around(chart, labels, field, taken)


def _columns(points: Sequence[Point], field: _Field) -> Iterator[tuple[float, list[float], float, str]]:
    """(cost, heights, x, alignment) of every column: near, on the right, and at the height of its points is best."""
    if not points:
        return
    places = [field.mark(point)[1] for point in points]
    ends = [field.x(x) for p in points for x in (p.flops_per_byte, p.dram_flops_per_byte) if x]
    starts, stops = range(int(_TOP) + 8, int(_BOTTOM) - 40, 10), range(int(_BOTTOM) - 8, int(_TOP) + 60, -16)
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
    """A name at the height `y`, tied to its mark."""
    side = -1 if align else 1
    return Spot(x, y + _LABEL_UP, align, leader=((mark[0] + 7 * side, mark[1]), (x - 3 * side, y)))


def _spots_around(chart: Roofline, labels: Mapping[str, str], field: _Field, taken: Taken) -> dict[str, _Placed]:
    """Each name near its own point; by name."""
    found = {}
    for point in sorted(chart.points, key=lambda p: -p.flops_per_s):
        name = labels[point.name]
        if spot := first_free(name, _around(*field.mark(point)), taken, bold=True):
            found[point.name] = (name, spot)
    return found


def _around(x: float, y: float) -> Iterator[Spot]:
    """Close to a point first, then farther away with a leader; below before above, where a slope leaves room."""
    yield from (Spot(x + 10, y + 14), Spot(x + 11, y + _LABEL_UP), Spot(x, y + 23, "mid"), Spot(x - 10, y + 15, "e"))
    yield from (Spot(x - 11, y + _LABEL_UP, "e"), Spot(x + 10, y - 8), Spot(x, y - 11, "mid"), Spot(x - 10, y - 8, "e"))
    for away in range(24, 310, 14):
        for degrees in (60, 30, 90, 0, 75, 45, 15, 105, 120, -15, -30, 135, 150, -45, -60, 165, 180, -90, -120, -150):
            dx, dy = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            to = x + away * dx, y + away * dy
            align = "e" if dx < -0.1 else "" if dx > 0.1 else "mid"
            end = to[0] - 3 * (dx > 0.1) + 3 * (dx < -0.1), to[1] - (9 if align == "mid" else 0)
            yield Spot(to[0], to[1] + _LABEL_UP, align, leader=((x + 7 * dx, y + 7 * dy), end))


def _roof_labels(roof: Roof, chart: Roofline, field: _Field, taken: Taken) -> Iterator[Markup]:
    """The measured rate below the two lines, the printed one above them."""
    begin, y = field.at(chart.ridge(roof), roof.flops_per_s)
    sheet = field.y(roof.datasheet_flops_per_s or roof.flops_per_s)
    measured = f"{roof.name} {numbers.significant(roof.flops_per_s / 1e12, 3)}"
    yield _named(measured, _on_flat(begin, y, sheet), taken, "b")
    if roof.datasheet_flops_per_s:
        printed = f"datasheet {numbers.printed(roof.datasheet_flops_per_s / 1e12)}"
        yield _named(printed, _on_flat(begin, sheet, y), taken)


def _memory_label(chart: Roofline, field: _Field, taken: Taken) -> Markup:
    """That of the first slope, below it."""
    label, line = _rate(chart.slopes[0]), _slope(chart, field, chart.memory)
    return _named(label, itertools.chain(_along(*line, below=True), _aside(*line)), taken, "b")


def _slope_labels(chart: Roofline, field: _Field, taken: Taken) -> list[Markup]:
    """Those of the other slopes above them; those without room there in a free corner."""
    wanted = [(_rate(slope), _slope(chart, field, slope.bytes_per_s)) for slope in _levels(chart, field)]
    if sheet := chart.slopes[0].datasheet_bytes_per_s:
        printed = f"datasheet {numbers.with_unit(numbers.printed(sheet / 1e12), 'TB/s')}"
        wanted.append((printed, _slope(chart, field, sheet)))
    near = [_named(label, _along(*line, below=False), taken) for label, line in wanted]
    far = [_named(label, _aside(*line), taken) for n, (label, line) in enumerate(wanted) if not near[n]]
    return [*near, *far]


def _rate(slope: Slope) -> str:
    return f"{slope.name} {numbers.bandwidth(slope.bytes_per_s)}"


def _slope(chart: Roofline, field: _Field, bytes_per_s: float) -> tuple[Pair, Pair]:
    """From where it enters the chart up to the highest roof, or to where it leaves the chart."""
    top = max((roof.flops_per_s for roof in chart.roofs), default=field.y.high)
    return field.slope(bytes_per_s, top)


def _floor_labels(chart: Roofline, field: _Field, taken: Taken) -> Iterator[Markup]:
    """The intensity of the ridges, and that of the points when they share one."""
    for roof in chart.roofs:
        ridge = chart.ridge(roof)
        yield _named(f"ridge {numbers.intensity(ridge)}", _on_floor(field.x(ridge)), taken)
    shared = {point.flops_per_byte for point in chart.points}
    for intensity in shared if len(shared) == 1 else ():
        yield path(f"M{at(field.x(intensity))} {at(_BOTTOM)}v-6", "ownline")
        yield _named(numbers.intensity(intensity), _on_floor(field.x(intensity)), taken, "o")


def _named(label: str, spots: Iterable[Spot], taken: Taken, class_: str = "") -> Markup:
    """The label with its leader; what finds no place is left out, as the table has it too."""
    spot = first_free(label, spots, taken, bold=class_ in ("b", "o"))
    return join([leader(spot), drawn(label, spot, class_)]) if spot else Markup()


def _on_flat(begin: float, y: float, other: float) -> Iterator[Spot]:
    """On a flat line from its right end back to the ridge: on the side where `other` is not, beyond `other`, far."""
    rights = [float(right) for right in range(int(_RIGHT) - 2, int(begin) + 30, -12)]
    under, over = max(y, other) + 15, min(y, other) - 8
    for height in (under, over) if y >= other else (over, under):
        yield from (Spot(right, height, "e") for right in rights)
    for away in range(24, 90, 8):
        for x in rights:
            yield Spot(x, y - away, "e", leader=((x - 12, y), (x - 12, y - away + 4)))
            yield Spot(x, y + away, "e", leader=((x - 12, y), (x - 12, y + away - 12)))


def _on_floor(x: float) -> Iterator[Spot]:
    """Beside the foot of a line, then higher."""
    for up in range(6, 120, 14):
        yield Spot(x + 5, _BOTTOM - up)
        yield Spot(x - 5, _BOTTOM - up, "e")


def _along(begin: Pair, end: Pair, *, below: bool) -> Iterator[Spot]:
    """Parallel to a slope, on one side of it; below it far up, to leave the room at the points to their names."""
    turn, away = math.atan2(end[1] - begin[1], end[0] - begin[0]), -16.0 if below else 8.0
    for x, y in _on_slope(begin, end, 0.75 if below else 0.5):
        yield Spot(x + away * math.sin(turn), y - away * math.cos(turn), "mid", turn)


def _aside(begin: Pair, end: Pair) -> Iterator[Spot]:
    """Level and with a leader, in the corner above all slopes or in that below."""
    for side in (-1, 1):
        for x, y in itertools.islice(_on_slope(begin, end, 0.5), 0, None, 4):
            for away, lean in itertools.product(range(24, 260 if side < 0 else 110, 12), (0.5, 0.8, 0.2)):
                to = x + side * away * lean, y + side * away
                end_of_leader = to[0] + side * 6, to[1] + (5 if side < 0 else -12)
                yield Spot(*to, "mid" if lean < 0.3 else "e" if side < 0 else "", leader=((x, y), end_of_leader))


def _on_slope(begin: Pair, end: Pair, first: float) -> Iterator[Pair]:
    """Places along it, from that share on outwards."""
    for share in sorted((n / 60 for n in range(6, 55)), key=lambda share: abs(share - first)):
        yield begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share


def _path(chart: Roofline, field: _Field) -> list[Markup]:
    """From our first to our last: through the DRAM's points when all of ours have one, as there it shows what moved."""
    ours = [point for point in chart.points if point.ours]
    counted = all(point.dram_flops_per_byte for point in ours)
    xs = [point.dram_flops_per_byte if counted else point.flops_per_byte for point in ours]
    places = [field.at(x, point.flops_per_s) for x, point in zip(xs, ours, strict=True) if x]
    return [path(polyline(places), "way")] if len(places) > 1 else []


def _drawn_point(point: Point, field: _Field, placed: _Placed | None) -> Markup:
    """The point with its whisker, its bar and its name, as one link to its row."""
    x, y = field.mark(point)
    line = "ownline" if point.ours else "baseline"
    parts = whisker(x, field.y(point.low_flops_per_s), field.y(point.high_flops_per_s), line, cap=3.0)
    counted = field.x(point.dram_flops_per_byte) if point.dram_flops_per_byte else x
    if seen(counted, x):
        parts += [path(f"M{at(counted)} {at(y)}H{at(x)}", f"{line} reread"), dot(counted, y, point, 3.5)]
    if point.sustained_flops_per_s:
        below, class_ = field.y(point.sustained_flops_per_s), "held" if point.ours else "held v"
        parts += [path(f"M{at(x)} {at(y)}V{at(below)}", line), tag("circle", class_=class_, cx=x, cy=below, r="4.5")]
    parts.append(dot(x, y, point, 5.0))
    if placed:
        name, spot = placed
        parts = [leader(spot), *parts, drawn(name, spot, "st" if point.stale else "o" if point.ours else "b")]
    words = point.title or f"{point.name}: {numbers.operations(point.flops_per_s)}"
    inside = join([tag("title", words), *parts, tag("circle", class_="hit", cx=x, cy=y, r="12")])
    return tag("a", inside, href=point.href) if point.href else tag("g", inside)


def whisker(x: float, low: float, high: float, line: str, cap: float = 0.0) -> list[Markup]:
    """From p80 to p20, with caps so long to each side; nothing where both are one place."""
    caps = f"M{at(x - cap)} {at(low)}h{at(2 * cap)}M{at(x - cap)} {at(high)}h{at(2 * cap)}" if cap else ""
    return [path(f"M{at(x)} {at(low)}V{at(high)}{caps}", line)] if seen(low, high) else []


def seen(one: float, other: float) -> bool:
    """Whether two places of a chart are more than one."""
    return abs(one - other) >= 1.0


def axis_title(letter: str, title: str, x: float) -> Markup:
    """What the upward axis shows, above it; before it the picture's letter."""
    marked = join([tag("tspan", letter, class_="b"), f"\u2002{title}"]) if letter else title
    return tag("text", marked, x=x, y=11.0)


def dot(x: float, y: float, point: Point, radius: float) -> Markup:
    """Ours is a disc, a baseline a square, a stale one hollow with a broken edge."""
    if point.stale:
        return tag("circle", class_="stalept", cx=x, cy=y, r=radius)
    if point.ours:
        return tag("circle", class_="own", cx=x, cy=y, r=radius)
    side = radius * 1.7
    return tag("rect", class_="base", x=x - side / 2, y=y - side / 2, width=side, height=side)
