"""Draw a measured quantity of named things: a bar for each, from left to right, under its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag, text
from sitegen.render.figures.axes import Area, Tick, apart, every_nth, number
from sitegen.render.figures.curves import CurvePoint, Curves
from sitegen.render.figures.labels import Spot, Taken, drawn, take_first_free, text_width
from sitegen.render.figures.scales import Linear, Log

WIDTH = 400
_LEFT, _RIGHT, _TOP, _BELOW = 4.0, 390.0, 26.0, 46.0
_NAME, _BAR, _GAP = 17.0, 11.0, 8.0
"""The heights of a name, of a bar and of the space below the bars of a name, in pixels."""
_LINE = 16.0
"""The height of a line of names above the bars."""
_SHADES = ("own", "pred", "base")


def render_bars(chart: Curves, *, id: str, beside: Sequence[Curves] = ()) -> Markup:
    """Return the chart as SVG.  Each value of the horizontal axis of `chart` has a name and a bar of each curve.

    `id` is unique on the page.  The charts `beside` show the same on other GPUs; all of them have the same axis.
    """
    height = len(chart.x_names) * (_NAME + len(chart.curves) * _BAR + _GAP)
    key = (18.0 if len(chart.curves) > 1 else 0.0) + _LINE * max(len(chart.references) - 1, 0)
    area = Area(_LEFT, _RIGHT, _TOP + key, _TOP + key + height)
    scale = _scale((chart, *beside), area)
    values = scale.named if isinstance(scale, Log) else scale.ticks
    ticks = [Tick(scale(value), number(value)) for value in values]
    grid = "".join(f"M{at(tick.at)} {at(area.top)}V{at(area.bottom)}" for tick in ticks)
    named = apart(ticks) if isinstance(scale, Log) else every_nth(ticks)
    content = [
        tag("title", chart.title, id=f"{id}-title"),
        tag("desc", chart.about, id=f"{id}-desc"),
        *_key(chart),
        path(grid, "grid"),
        *(part for n, name in enumerate(chart.x_names) for part in _named(chart, n, name, area, scale)),
        *_references(chart, area, scale),
        *(text(tick.name, tick.at, area.bottom + 18, "mid") for tick in named),
        text(chart.y_title, (area.left + area.right) / 2, area.bottom + 38, "mid"),
    ]
    linked = any(point.href for curve in chart.curves for point in curve.points)
    size = {"viewBox": f"0 0 {WIDTH} {area.bottom + _BELOW:g}", "width": WIDTH, "height": area.bottom + _BELOW}
    role = "group" if linked else "img"
    return tag("svg", join(content), class_="chart", role=role, **size, aria_labelledby=f"{id}-title {id}-desc")


def _scale(charts: Sequence[Curves], area: Area) -> Linear | Log:
    points = [point for one in charts for curve in one.curves for point in curve.points]
    ends = [end for point in points for end in (point.low, point.y, point.high)]
    ends += [y for one in charts for reference in one.references for _, y in reference.points]
    left, right = area.left + 12, area.right - 24
    if charts[0].log_y and min(ends) > 0:
        return Log(min(ends) / 2, max(ends), left, right)
    return Linear(0.0, max(ends) or 1.0, left, right)


def _named(chart: Curves, n: int, name: str, area: Area, scale: Linear | Log) -> Iterator[Markup]:
    """Yield the name of the nth value and its bars."""
    top = area.top + n * (_NAME + len(chart.curves) * _BAR + _GAP)
    yield text(name, scale(scale.low), top + 13, "halo")
    for nth, curve in enumerate(chart.curves):
        for point in curve.points:
            if point.x == n:
                of_role = "base" if point.is_baseline else "own"
                shade = _SHADES[nth % len(_SHADES)] if len(chart.curves) > 1 else of_role
                yield _bar(point, shade, top + _NAME + nth * _BAR, scale)


def _bar(point: CurvePoint, shade: str, y: float, scale: Linear | Log) -> Markup:
    """Return a bar with its whisker as a link to its row."""
    left, end, middle = scale(scale.low), scale(point.y), y + (_BAR - 2) / 2
    low, high = scale(point.low), scale(point.high)
    size: dict[str, object] = {"x": left, "y": y, "width": max(end - left, 1.0), "height": _BAR - 2}
    whisker = f"M{at(low)} {at(middle)}H{at(high)}M{at(low)} {at(middle - 3)}v6M{at(high)} {at(middle - 3)}v6"
    parts = [
        tag("title", point.words),
        tag("rect", "", class_="stalept" if point.stale else shade, **size),
        *([path(whisker, "level")] if high > low else []),
        tag("rect", "", class_="hit", x=left, y=y - 1, width=_RIGHT - left, height=_BAR),
    ]
    return tag("a", join(parts), href=point.href) if point.href else tag("g", join(parts))


def _references(chart: Curves, area: Area, scale: Linear | Log) -> Iterator[Markup]:
    """Yield a vertical line for each reference, with its name above the bars."""
    taken = Taken()
    for reference in chart.references:
        x = scale(reference.points[0][1])
        yield path(f"M{at(x)} {at(area.top - 2)}V{at(area.bottom)}", reference.class_)
        rows = range(len(chart.references))
        sides = ((0, "mid"), (-4, "e"), (4, ""))
        spots = [Spot(x + move, area.top - 6 - _LINE * row, align) for row in rows for move, align in sides]
        inside = [spot for spot in spots if _fits(reference.name, spot)]
        if spot := take_first_free(reference.name, inside, taken):
            yield drawn(reference.name, spot, "b" if reference.class_ == "roof" else "")


def _fits(name: str, spot: Spot) -> bool:
    width = text_width(name)
    left = spot.x - {"": 0.0, "mid": width / 2, "e": width}[spot.align]
    return left >= 0 and left + width <= WIDTH


def _key(chart: Curves) -> Iterator[Markup]:
    x = _LEFT + 12
    for n, curve in enumerate(chart.curves if len(chart.curves) > 1 else ()):
        yield tag("rect", "", class_=_SHADES[n % len(_SHADES)], x=x, y=4.0, width=10.0, height=10.0)
        yield text(curve.name, x + 14, 13.0)
        x += 14 + text_width(curve.name) + 14
