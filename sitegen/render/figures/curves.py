"""Draw a measured quantity over a swept one: a line, stairs, points or bars for each curve, whiskers and references.

Values are in the units of the axes.  A whisker reaches from p20 to p80 of the samples of a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from markupsafe import Markup

from sitegen.markup.svg import Pair, join, path, polyline, tag, text
from sitegen.render.figures.axes import Area, Tick, apart, axis_title, frame, number, round_values, rules, size_number
from sitegen.render.figures.labels import (
    PITCH,
    Shape,
    Spot,
    Taken,
    box,
    drawn,
    leader,
    outline,
    spread,
    take_first_free,
    text_width,
    touch,
)
from sitegen.render.figures.roofline import whisker
from sitegen.render.figures.scales import Linear, Log

WIDTH, HEIGHT = 400, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 390.0, 22.0, 244.0
_KEY = 18.0
"""The height of the row with the names of bars."""
_MOST_ROOM = 150.0
"""The most pixels that the names of curves take to the right of them."""
_STYLES = (("ownline", "own"), ("level", "pred"), ("baseline", "base"))
"""The classes of the line and of the marks of each curve; from the fourth on, lines are dashed."""


class CurveKind(StrEnum):
    """The way in which the points of a curve are shown."""

    LINE = "line"
    STAIRCASE = "staircase"
    SCATTER = "scatter"
    BAR = "bar"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point: its place, the ends of its whisker, and what it is in words."""

    x: float
    y: float
    low: float
    high: float
    words: str
    href: str = ""
    """The link to the row of the point in the table."""
    stale: bool = False
    is_baseline: bool = False
    """True for a point to compare with, which has the colour of baselines where curves have no colours."""


@dataclass(frozen=True, slots=True)
class Curve:
    name: str
    """The name beside the curve: `UNROLL 4`; empty for the only curve."""
    points: Sequence[CurvePoint]
    """The points by ascending x."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A line to compare with: a ceiling, a copy or a baseline."""

    name: str
    class_: str
    points: Sequence[Pair]
    """The points by ascending x; a single one stands for a horizontal line."""


@dataclass(frozen=True, slots=True)
class Note:
    """Words of the author at a point, in the units of the axes."""

    words: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Curves:
    title: str
    about: str
    """The content of the chart in words."""
    x_title: str
    y_title: str
    curves: Sequence[Curve]
    """At least one, each with at least one point."""
    references: Sequence[Reference] = ()
    kind: CurveKind = CurveKind.LINE
    log_x: bool = False
    log_y: bool = False
    notes: Sequence[Note] = ()
    x_names: Sequence[str] = ()
    """The names of the values 0, 1, … of the horizontal axis; empty: they are numbers."""


@dataclass(frozen=True, slots=True)
class _Field:
    """The chart's area, and the functions from values to pixels."""

    area: Area
    x: Callable[[float], float]
    y: Linear | Log
    xs: Sequence[float]
    """The distinct values of x, ascending."""

    def at(self, x: float, y: float) -> Pair:
        return self.x(x), self.y(y)

    def line(self, reference: Reference) -> list[Pair]:
        """Return the points of a reference; a horizontal one reaches from the axis to the right end."""
        if len(reference.points) > 1:
            return [self.at(x, y) for x, y in reference.points]
        height = self.y(reference.points[0][1])
        return [(self.area.left, height), (self.area.right, height)]


def render_curves(chart: Curves, *, id: str, beside: Sequence[Curves] = ()) -> Markup:
    """Return the chart as SVG; `id` is unique on the page, and the ids of its title and description begin with it.

    The charts `beside` show the same on other GPUs; all of them have the same axes.
    """
    field = _field(chart, beside)
    taken = _taken(chart, field)
    references = [(class_, field.line(one)) for one in chart.references if (class_ := one.class_)]
    lines = [path(polyline(points), class_) for class_, points in references]
    curves = [part for n, curve in enumerate(chart.curves) for part in _curve(chart, field, n, curve)]
    parts = [
        tag("title", chart.title, id=f"{id}-title"),
        tag("desc", chart.about, id=f"{id}-desc"),
        axis_title("", chart.y_title, 4.0),
        *_axes(chart, field),
        *((*curves, *lines) if chart.kind is CurveKind.BAR else (*lines, *curves)),  # a bar would hide a line
        *_notes(chart, field, taken),
        *_reference_names(chart, field, taken),
        *_names(chart, field, taken),
    ]
    linked = any(point.href for curve in chart.curves for point in curve.points)
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": WIDTH, "height": HEIGHT, "role": "group" if linked else "img"}
    return tag("svg", join(parts), class_="chart", **size, aria_labelledby=f"{id}-title {id}-desc")


def _is_scattered(chart: Curves) -> bool:
    """Return whether each point has a name of its own, which then stands beside it."""
    return chart.kind is CurveKind.SCATTER and all(len(curve.points) == 1 for curve in chart.curves)


def _is_numbered(chart: Curves) -> bool:
    """Return whether each point has the number of its curve, because more curves have points than there are colours."""
    return chart.kind is CurveKind.SCATTER and not _is_scattered(chart) and len(chart.curves) > len(_STYLES)


def _names(chart: Curves, field: _Field, taken: Taken) -> Iterator[Markup]:
    if chart.kind is CurveKind.BAR:
        yield from _key(chart)
    elif _is_scattered(chart):
        yield from _point_names(chart, field, taken)
    else:
        yield from _numbers(chart, field, taken) if _is_numbered(chart) else ()
        yield from _curve_names(chart, field)


def _field(chart: Curves, beside: Sequence[Curves]) -> _Field:
    every = [curve for one in (chart, *beside) for curve in one.curves]
    room = max((text_width(curve.name, bold=True) for curve in every if curve.name), default=0.0)
    room += text_width("10 ") if _is_numbered(chart) else 0.0
    beside_curves = room and chart.kind is not CurveKind.BAR and not _is_scattered(chart)
    right = _RIGHT - (min(room, _MOST_ROOM) + 10 if beside_curves else 0.0)
    area = Area(_LEFT, right, _TOP + (_KEY if room and chart.kind is CurveKind.BAR else 0.0), _BOTTOM)
    xs = sorted({point.x for curve in every for point in curve.points})
    return _Field(area, _x_scale(chart, xs, area), _y_scale((chart, *beside), area), xs)


def _x_scale(chart: Curves, xs: Sequence[float], area: Area) -> Callable[[float], float]:
    """Return the horizontal scale.  Bars stand side by side, whatever the distances of their values."""
    if chart.kind is CurveKind.BAR:
        places = Linear(-0.5, len(xs) - 0.5, area.left, area.right)
        return lambda value: places(xs.index(value))
    if chart.log_x:
        return Log(xs[0] / 1.2, xs[-1] * 1.2, area.left, area.right)
    margin = (xs[-1] - xs[0]) * 0.05 or max(abs(xs[0]) * 0.1, 1.0)
    return Linear(xs[0] - margin, xs[-1] + margin, area.left, area.right)


def _y_scale(charts: Sequence[Curves], area: Area) -> Linear | Log:
    points = [point for one in charts for curve in one.curves for point in curve.points]
    ends = [end for point in points for end in (point.low, point.y, point.high)]
    ends += [y for one in charts for reference in one.references for _, y in reference.points]
    if charts[0].log_y and min(ends) > 0:
        return Log(min(ends) / 1.6, max(ends) * 1.6, area.bottom, area.top)
    return Linear(0.0, max(ends) * 1.12 or 1.0, area.bottom, area.top)


def _axes(chart: Curves, field: _Field) -> list[Markup]:
    area, y = field.area, field.y
    values = y.named if isinstance(y, Log) else y.ticks
    across = _ticks(chart, field)
    middle = (area.left + area.right) / 2
    return [
        *rules(area, (Tick(y(value), number(value)) for value in values)),
        frame(area, [tick.at for tick in across]),
        *(text(tick.name, tick.at, area.bottom + 20, "mid") for tick in apart(across, end=WIDTH)),
        text(chart.x_title, middle, area.bottom + 42, "mid"),
    ]


def _ticks(chart: Curves, field: _Field) -> list[Tick]:
    """Return the marks of the horizontal axis: its names, the values of its points, or round values."""
    if chart.x_names:
        return [Tick(field.x(n), name) for n, name in enumerate(chart.x_names)]
    if all(value == int(value) for value in field.xs):
        return [Tick(field.x(value), size_number(value)) for value in field.xs]
    if len(field.xs) < 3:
        return [Tick(field.x(value), number(float(f"{value:.3g}"))) for value in field.xs]
    values: Sequence[float] = round_values(field.xs[0], field.xs[-1])
    if isinstance(field.x, Log) and len(field.x.named) > 2:
        values = field.x.named  # equal steps would all stand at the right end
    return [Tick(field.x(value), number(value)) for value in values]


def _point_names(chart: Curves, field: _Field, taken: Taken) -> Iterator[Markup]:
    """Yield the name of each point, in the nearest free place around it."""
    for curve in chart.curves:
        point = curve.points[0]
        if curve.name and (spot := take_first_free(curve.name, _spots(*field.at(point.x, point.y)), taken)):
            yield leader(spot)
            yield drawn(curve.name, spot, "")


def _numbers(chart: Curves, field: _Field, taken: Taken) -> Iterator[Markup]:
    """Yield the number of its curve beside each point, in the order of the names."""
    for n, (_, curve) in enumerate(_by_height(chart, field), 1):
        for point in curve.points:
            if spot := take_first_free(str(n), _spots(*field.at(point.x, point.y)), taken):
                yield leader(spot)
                yield drawn(str(n), spot, "")


def _spots(x: float, y: float) -> list[Spot]:
    """Return the places for a name around a point, the nearest first; the far ones have a line to the point."""
    near = [Spot(x + 9, y + 5), Spot(x - 9, y + 5, "e"), Spot(x, y - 10, "mid"), Spot(x, y + 20, "mid")]
    far = [
        Spot(
            x + side * out,
            y + down,
            "" if side > 0 else "e",
            leader=((x + side * 5, y), (x + side * (out - 2), y + down - 4)),
        )
        for out in (16, 30, 50)
        for down in (-12, 20, -26, 34, -40, 48, -56, 64)
        for side in (1, -1)
    ]
    return near + far


def _taken(chart: Curves, field: _Field) -> Taken:
    """Return the shapes that no name of a reference may cover: points, whiskers, curves, references and walls."""
    taken, area = Taken(), field.area
    for curve in chart.curves:
        places = [field.at(point.x, point.y) for point in curve.points]
        if chart.kind is not CurveKind.SCATTER:
            taken.add_line(_corners(places) if chart.kind is CurveKind.STAIRCASE else places)
        for point, (x, y) in zip(curve.points, places, strict=True):
            ends = field.y(point.low), field.y(point.high)
            taken.marks.append(box(x - 6, min(*ends, y - 6), x + 6, max(*ends, y + 6)))
            if chart.kind is CurveKind.BAR:
                taken.marks.append(box(x - _bar_width(chart, field), y, x + _bar_width(chart, field), area.bottom))
    for reference in chart.references:
        taken.add_line(field.line(reference))
    walls = (-1000.0, 0.0, area.left + 2, 1000.0), (area.right + 2, 0.0, 9000.0, 1000.0)
    floor, roof = (-1000.0, area.bottom - 1, 9000.0, 1000.0), (-1000.0, -1000.0, 9000.0, area.top - 8)
    taken.lines += [box(*wall) for wall in (*walls, floor, roof)]
    return taken


def _reference_names(chart: Curves, field: _Field, taken: Taken) -> Iterator[Markup]:
    """Yield the name of each reference above or below its line, where it touches nothing."""
    area = field.area
    for reference in chart.references:
        line = field.line(reference)
        spots = [
            Spot(x, _height(line, x) + down)
            for down in (-6, 15, -9, 18)
            for x in range(round(area.left) + 6, round(area.right), 12)
            if line[0][0] <= x <= line[-1][0]
        ]
        if spot := take_first_free(reference.name, spots, taken):
            yield drawn(reference.name, spot, "b" if reference.class_ == "roof" else "")


def _notes(chart: Curves, field: _Field, taken: Taken) -> Iterator[Markup]:
    """Yield the words at points, each in the nearest free place around its point, with a leader to it."""
    for note in chart.notes:
        x, y = field.at(note.x, note.y)
        spots = [
            Spot(x + right, y + down, align, leader=((x, y), (x + right, y + down - 4)))
            for far in (22, 34, 48, 64, 84, 110)
            for right, down, align in (
                (far, -far / 2, ""),
                (-far, -far / 2, "e"),
                (far, far / 2 + 8, ""),
                (-far, far / 2 + 8, "e"),
                (0.0, -far, "mid"),
                (0.0, far + 10, "mid"),
            )
        ]
        own = [mark for mark in taken.marks if touch(mark, box(x - 1, y - 1, x + 1, y + 1))]
        others = Taken(taken.lines, [mark for mark in taken.marks if mark not in own])
        if spot := take_first_free(note.words, [one for one in spots if _covers_none(note.words, one, own)], others):
            taken.marks.append(outline(note.words, spot))
            yield leader(spot)
            yield drawn(note.words, spot, "b")


def _covers_none(words: str, spot: Spot, marks: Sequence[Shape]) -> bool:
    shape = outline(words, spot)
    return not any(touch(shape, mark) for mark in marks)


def _bar_width(chart: Curves, field: _Field) -> float:
    return 0.8 * (field.area.right - field.area.left) / len(field.xs) / len(chart.curves)


def _height(line: Sequence[Pair], x: float) -> float:
    """Return the y of a line at x, in pixels."""
    for (x0, y0), (x1, y1) in pairwise(line):
        if x0 <= x <= x1 and x1 > x0:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


def _curve(chart: Curves, field: _Field, n: int, curve: Curve) -> Iterator[Markup]:
    line, mark = _STYLES[n % len(_STYLES)]
    if _is_scattered(chart) or _is_numbered(chart):
        line, mark = _STYLES[2 if curve.points[0].is_baseline else 0]
    places = [field.at(point.x, point.y) for point in curve.points]
    if chart.kind in (CurveKind.LINE, CurveKind.STAIRCASE) and len(places) > 1:
        through = _corners(places) if chart.kind is CurveKind.STAIRCASE else places
        yield path(polyline(through), f"{line} dash" if n >= len(_STYLES) else line)
    for point, place in zip(curve.points, places, strict=True):
        yield _point(chart, field, point, place, n, (line, mark))


def _corners(places: Sequence[Pair]) -> list[Pair]:
    """Return the corners of stairs, on which each value holds until the next."""
    return [places[0], *(corner for (_, y), (x, next_y) in pairwise(places) for corner in ((x, y), (x, next_y)))]


def _point(chart: Curves, field: _Field, point: CurvePoint, place: Pair, n: int, style: tuple[str, str]) -> Markup:
    """Return a point with its whisker as a link to its row."""
    (x, y), (line, mark) = place, style
    if chart.kind is CurveKind.BAR:
        width = _bar_width(chart, field)
        x += (n - (len(chart.curves) - 1) / 2) * width
        shape = tag(
            "rect",
            class_="stalept" if point.stale else mark,
            x=x - width / 2,
            y=y,
            width=width,
            height=field.area.bottom - y,
        )
        line = "level"
    elif point.stale or mark != "base":
        shape = tag("circle", class_="stalept" if point.stale else mark, cx=x, cy=y, r="4")
    else:
        shape = tag("rect", class_=mark, x=x - 3.5, y=y - 3.5, width="7", height="7")
    ends = whisker(x, field.y(point.low), field.y(point.high), line, cap=3.0)
    hit = tag("circle", class_="hit", cx=x, cy=y, r="12")
    whole = [shape, *ends] if chart.kind is CurveKind.BAR else [*ends, shape]
    inside = join([tag("title", point.words), *whole, hit])
    return tag("a", inside, href=point.href) if point.href else tag("g", inside)


def _key(chart: Curves) -> Iterator[Markup]:
    """Yield a swatch and a name for each kind of bar, in one row above the bars."""
    x = _LEFT
    for n, curve in enumerate(chart.curves if len(chart.curves) > 1 else ()):
        yield tag("rect", class_=_STYLES[n % len(_STYLES)][1], x=x, y=_TOP, width=10.0, height=10.0)
        yield text(curve.name, x + 14, _TOP + 9)
        x += 14 + text_width(curve.name) + 14


def _curve_names(chart: Curves, field: _Field) -> Iterator[Markup]:
    """Yield the name of each curve to the right of its last point, in the order of their ends."""
    named, numbered = _by_height(chart, field), _is_numbered(chart)
    places = spread([y for y, _ in named], PITCH, field.area.top + 4, field.area.bottom)
    for n, (place, (_, curve)) in enumerate(zip(places, named, strict=True), 1):
        class_ = "" if numbered else ("o", "b", "")[list(chart.curves).index(curve) % 3]
        yield drawn(f"{n} {curve.name}" if numbered else curve.name, Spot(field.area.right + 8, place + 4), class_)


def _by_height(chart: Curves, field: _Field) -> list[tuple[float, Curve]]:
    """Return the curves with names and the heights of their last points in pixels, the highest first."""
    named = [(field.y(curve.points[-1].y), curve) for curve in chart.curves if curve.name]
    return sorted(named, key=lambda pair: pair[0])
