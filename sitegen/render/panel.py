"""The programs of one workload side by side on a linear axis, under the measured ceiling and the datasheet's.

For a kernel that is bound by memory the axis is bandwidth, else operations; a kernel without operations has this
chart instead of a roofline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from sitegen.render import numbers
from sitegen.render.roofline import axis_title
from sitegen.render.svg import Linear, at, join, path, polyline, tag, text

_HEIGHT, _LEFT, _TOP, _BOTTOM = 388, 34.0, 18.0, 336.0


@dataclass(frozen=True, slots=True)
class Line:
    """A horizontal line with its name."""

    name: str
    rate: float


@dataclass(frozen=True, slots=True)
class Column:
    """A program; rates in the panel's unit, p20 to p80 of its time as `low` and `high`."""

    name: str
    rate: float
    low: float
    high: float
    ours: bool
    stale: bool = False
    predicted: float | None = None
    href: str = ""
    """Its row in the table."""


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    """What was measured, where."""
    unit: str
    """`TB/s` or `TFLOP/s`: rates are in it."""
    ceiling: Line
    columns: Sequence[Column]
    """Baselines first, then ours in the order written."""
    probe: Line | None = None
    """The copy or read of the same bytes."""
    datasheet: Line | None = None
    width: int = 360
    letter: str = ""
    """Of the picture, when there are two: `b`."""


def render_panel(panel: Panel) -> Markup:
    """The SVG; each point is a link to its row, so the group is no single picture."""
    y = _axis(panel)
    right = panel.width - 10.0
    parts = [*_grid(panel, y, right), *_lines(panel, y, right), *_columns(panel, y, right)]
    box = {"viewBox": f"0 0 {panel.width} {_HEIGHT}", "width": panel.width, "height": _HEIGHT, "role": "group"}
    return tag("svg", join(parts), class_="chart", **box, aria_label=panel.title)


def _axis(panel: Panel) -> Linear:
    others = [line.rate for line in (panel.datasheet, panel.probe) if line]
    highest = max([panel.ceiling.rate, *others, *(column.high for column in panel.columns)])
    return Linear(0.0, highest * 1.06, _BOTTOM, _TOP)


def _grid(panel: Panel, y: Linear, right: float) -> list[Markup]:
    lines = "".join(f"M{at(_LEFT)} {at(y(tick))}H{at(right)}" for tick in y.ticks[1:])
    names = [text(f"{tick:.6g}", _LEFT - 7, y(tick) + 4, "e") for tick in y.ticks]
    what = "bytes that must move ÷ time" if panel.unit == "TB/s" else "operations ÷ time"
    return [
        path(lines, "grid"),
        path(f"M{at(_LEFT)} {at(_TOP)}V{at(_BOTTOM)}H{at(right)}", "axis"),
        *names,
        axis_title(panel.letter, f"{panel.unit}: {what}", 4.0),
    ]


def _lines(panel: Panel, y: Linear, right: float) -> list[Markup]:
    """The ceiling's name above its line, the probe's below its own, the datasheet's at the other end."""
    ceiling, probe, sheet = panel.ceiling, panel.probe, panel.datasheet
    parts = [path(f"M{at(_LEFT)} {at(y(ceiling.rate))}H{at(right)}", "roof")]
    parts.append(text(_label(ceiling), _LEFT + 6, y(ceiling.rate) - 5, "b halo"))
    if probe:
        parts.append(path(f"M{at(_LEFT)} {at(y(probe.rate))}H{at(right)}", "axis"))
        parts.append(text(_label(probe), _LEFT + 6, _free_place(panel, y, right, probe), "halo"))
    if sheet:
        parts.append(path(f"M{at(_LEFT)} {at(y(sheet.rate))}H{at(right)}", "sheetline"))
        parts.append(text(f"{sheet.name} {numbers.printed(sheet.rate)}", right, y(sheet.rate) - 5, "e halo"))
    return parts


def _free_place(panel: Panel, y: Linear, right: float, line: Line) -> float:
    """Under the line, or as much lower as the points and numbers of the columns above the name take."""
    step = (right - _LEFT) / max(len(panel.columns), 1)
    reached = panel.columns[: int(_width(_label(line)) / step) + 1]
    taken = [(y(column.rate) - 8, y(column.rate) + 26) for column in reached]
    place = y(line.rate) + 14
    while any(place > top and place - 10 < bottom for top, bottom in taken):
        place += 6
    return place


def _label(line: Line) -> str:
    return f"{line.name} {numbers.significant(line.rate, 3)}"


def _columns(panel: Panel, y: Linear, right: float) -> list[Markup]:
    step = (right - _LEFT) / max(len(panel.columns), 1)
    places = [(column, _LEFT + step * (n + 0.5)) for n, column in enumerate(panel.columns)]
    ours = [(x, y(column.rate)) for column, x in places if column.ours]
    parts = [path(polyline(ours), "ownline")] if len(ours) > 1 else []
    parts += [
        tag("circle", class_="pred", cx=x, cy=y(column.predicted), r="5.5")
        for column, x in places
        if column.predicted is not None
    ]
    parts += [_point(column, x, y, panel.unit) for column, x in places]
    crowded = any(_width(a.name) + _width(b.name) > 2 * step - 8 for a, b in pairwise(panel.columns))
    parts += [_name(column.name, x, n, crowded=crowded) for n, (column, x) in enumerate(places)]
    parts += _sides(panel, step)
    return parts


def _point(column: Column, x: float, y: Linear, unit: str) -> Markup:
    place = y(column.rate)
    if column.stale:
        shape = tag("circle", class_="stalept", cx=x, cy=place, r="5")
    elif column.ours:
        shape = tag("circle", class_="own", cx=x, cy=place, r="5")
    else:
        shape = tag("rect", class_="base", x=x - 5, y=place - 5, width="10", height="10")
    whisker = path(f"M{at(x)} {at(y(column.low))}V{at(y(column.high))}", "ownline" if column.ours else "axis")
    hit = tag("circle", class_="hit", cx=x, cy=place, r="16")
    number = numbers.significant(column.rate, 3)
    label = f"{column.name}: {number} {unit}{', stale' if column.stale else ''}"
    inside = join([hit, whisker, shape])
    linked = tag("a", inside, href=column.href, aria_label=label) if column.href else tag("g", inside)
    weight = "st" if column.stale else "o" if column.ours else "b"
    return join([linked, text(number, x, place + 22, f"mid halo {weight}")])


def _name(name: str, x: float, n: int, *, crowded: bool) -> Markup:
    """Under the axis; every second one a line lower when they would touch."""
    return text(name, x, _BOTTOM + 18 + (14 if crowded and n % 2 else 0), "mid")


def _width(name: str) -> float:
    return 6.2 * len(name)


def _sides(panel: Panel, step: float) -> list[Markup]:
    """`baselines` and `ours` under their columns."""
    base = sum(1 for column in panel.columns if not column.ours)
    ours = len(panel.columns) - base
    y = _BOTTOM + 48.0
    parts = [text("baselines", _LEFT + step * base / 2, y, "mid")] if base else []
    if ours:
        parts.append(text("ours, in the order written", _LEFT + step * (base + ours / 2), y, "mid"))
    return parts
