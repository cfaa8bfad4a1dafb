"""Draw the programs of one workload side by side on a linear axis, with the measured ceiling and the datasheet's value
as lines.

The axis is bandwidth for a kernel that is bound by memory, else operations per second.  A kernel without operations has
this chart instead of a roofline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, join, path, polyline, tag, text
from sitegen.render.figures.axes import Area, Tick, axis_title, frame, number, rules
from sitegen.render.figures.labels import Spot, Taken, box, drawn, leader, take_first_free, text_width
from sitegen.render.figures.roofline import whisker
from sitegen.render.figures.scales import Linear, half
from sitegen.render.shared import numbers

_LEFT, _TOP, _BOTTOM = 38.0, 20.0, 336.0
_ROW = 15.0
"""The height of one row of names under the axis, in pixels."""


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line with its name."""

    name: str
    rate: float


@dataclass(frozen=True, slots=True)
class ProgramColumn:
    """The rates of one program, in the unit of its panel: `low` and `high` are the rates at p80 and p20 of its time."""

    name: str
    rate: float
    low: float
    high: float
    ours: bool
    stale: bool = False
    predicted: float | None = None
    href: str = ""
    """The link to the program's row in the table."""


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    """The workload and the GPU on which it was measured."""
    unit: str
    """The unit of all rates: `TB/s` or `TFLOP/s`."""
    ceiling: LevelLine
    columns: Sequence[ProgramColumn]
    """The baselines first, then our programs in the order in which they were written."""
    probe: LevelLine | None = None
    """The rate of a copy or a read of the same bytes."""
    datasheet: LevelLine | None = None
    width: int = 400
    letter: str = ""
    """The letter of this picture when a figure has two pictures: `b`."""


def render_panel(panel: Panel, beside: Sequence[Panel] = ()) -> Markup:
    """Return the panel as SVG. Each point is a link to its row, so the SVG has the role `group`, not `img`.

    The panels `beside` show the same on other GPUs; all of them have the same vertical axis.
    """
    right = panel.width - 10.0
    y, places = _axis((panel, *beside)), _places(panel, right)
    taken = _taken(panel, y, places, right)
    numbers_ = [_number(column, place, y, taken) for column, place in zip(panel.columns, places, strict=True)]
    names, rows = _names(panel, places)
    parts = [
        *_grid(panel, y, right),
        *_lines(panel, y, right, taken),
        *_path(panel, places, y),
        *(tag("circle", class_="pred", cx=x, cy=at_y, r="5.5") for x, at_y in _predicted(panel, places, y)),
        *(_point(c, x, y, panel.unit, n) for c, x, n in zip(panel.columns, places, numbers_, strict=True)),
        *names,
        *_sides(panel, places, _BOTTOM + 20 + _ROW * rows),
    ]
    height = round(_BOTTOM + 26 + _ROW * rows)
    box_ = {"viewBox": f"0 0 {panel.width} {height}", "width": panel.width, "height": height, "role": "group"}
    return tag("svg", join(parts), class_="chart", **box_, aria_label=panel.title)


def _axis(panels: Sequence[Panel]) -> Linear:
    """Return the vertical axis, from zero to 10 % above the highest rate of all panels."""
    return Linear(0.0, max(map(_highest, panels)) * 1.1, _BOTTOM, _TOP)


def _highest(panel: Panel) -> float:
    others = [line.rate for line in (panel.datasheet, panel.probe) if line]
    return max([panel.ceiling.rate, *others, *(column.high for column in panel.columns)])


def _places(panel: Panel, right: float) -> list[float]:
    """Return the x of each column, from left to right."""
    step = (right - _LEFT) / max(len(panel.columns), 1)
    return [half(_LEFT + step * (n + 0.5)) for n in range(len(panel.columns))]


def _grid(panel: Panel, y: Linear, right: float) -> list[Markup]:
    area = Area(_LEFT, right, _TOP, _BOTTOM)
    what = "bytes that must move ÷ time" if panel.unit == "TB/s" else "operations ÷ time"
    return [
        *rules(area, (Tick(y(tick), number(tick)) for tick in y.ticks)),
        frame(area),
        axis_title(panel.letter, f"{panel.unit}: {what}", 4.0),
    ]


def _all_lines(panel: Panel) -> list[tuple[str, LevelLine]]:
    lines = [("sheetline", panel.datasheet), ("roof", panel.ceiling), ("axis", panel.probe)]
    return [(class_, line) for class_, line in lines if line]


def _taken(panel: Panel, y: Linear, places: Sequence[float], right: float) -> Taken:
    """Return the shapes that no name may cover: the lines, the points, the rings and the path through our points."""
    taken = Taken()
    for _, line in _all_lines(panel):
        taken.add_line([(_LEFT, y(line.rate)), (right, y(line.rate))])
    for column, x in zip(panel.columns, places, strict=True):
        taken.marks.append(
            box(x - 6, min(y(column.high), y(column.rate) - 6), x + 6, max(y(column.low), y(column.rate) + 6))
        )
    taken.marks += [box(x - 6, at_y - 6, x + 6, at_y + 6) for x, at_y in _predicted(panel, places, y)]
    taken.add_line([(x, y(c.rate)) for c, x in zip(panel.columns, places, strict=True) if c.ours])
    taken.lines += [box(-100, -100, _LEFT + 2, 1000), box(right + 4, -100, 10_000, 1000), box(-100, -100, 10_000, 12)]
    taken.lines.append(box(-100, _BOTTOM - 1, 10_000, 1000))
    return taken


def _predicted(panel: Panel, places: Sequence[float], y: Linear) -> list[Pair]:
    """Return the centre of each ring, which marks a prediction."""
    columns = zip(panel.columns, places, strict=True)
    return [(x, y(column.predicted)) for column, x in columns if column.predicted is not None]


def _lines(panel: Panel, y: Linear, right: float, taken: Taken) -> Iterator[Markup]:
    """Yield each line with its name: the datasheet's name stands at the right end, the others begin at the left."""
    for class_, line in _all_lines(panel):
        yield path(f"M{at(_LEFT)} {at(y(line.rate))}H{at(right)}", class_)
    for class_, line in _all_lines(panel):
        printed = class_ == "sheetline"
        label = f"{line.name} {numbers.printed(line.rate) if printed else numbers.significant(line.rate, 3)}"
        spot = take_first_free(label, _beside(y(line.rate), right, from_right=printed), taken, bold=class_ == "roof")
        if spot:
            yield join([leader(spot), drawn(label, spot, "b" if class_ == "roof" else "")])


def _beside(y: float, right: float, *, from_right: bool) -> Iterator[Spot]:
    """Yield spots for a name: above or below a line, anywhere along it, then farther away with a leader."""
    ends = [(float(x), "") for x in range(int(_LEFT) + 6, int(right) - 40, 12)]
    ends = [(float(x), "e") for x in range(int(right), int(_LEFT) + 40, -12)] if from_right else ends
    for down in (-8.0, 15.0):
        yield from (Spot(x, y + down, align) for x, align in ends)
    for away in range(24, 120, 8):
        for x, align in ends:
            foot = x - 12 if align else x + 12
            yield Spot(x, y + away, align, leader=((foot, y), (foot, y + away - 12)))
            yield Spot(x, y - away, align, leader=((foot, y), (foot, y - away + 5)))


def _path(panel: Panel, places: Sequence[float], y: Linear) -> list[Markup]:
    ours = [(x, y(column.rate)) for column, x in zip(panel.columns, places, strict=True) if column.ours]
    return [path(polyline(ours), "way")] if len(ours) > 1 else []


def _number(column: ProgramColumn, x: float, y: Linear, taken: Taken) -> Spot | None:
    """Return the spot of a rate as a number: below its point or above it, or as much farther away as is needed."""
    place = y(column.rate)
    offsets = [22.0, -13.0, *(sign * away for away in range(26, 130, 5) for sign in (1.0, -1.0))]
    spots = (Spot(x, place + offset, "mid") for offset in offsets)
    return take_first_free(numbers.significant(column.rate, 3), spots, taken, bold=True)


def _point(column: ProgramColumn, x: float, y: Linear, unit: str, spot: Spot | None) -> Markup:
    place = y(column.rate)
    if column.stale:
        shape = tag("circle", class_="stalept", cx=x, cy=place, r="5")
    elif column.ours:
        shape = tag("circle", class_="own", cx=x, cy=place, r="5")
    else:
        shape = tag("rect", class_="base", x=x - 5, y=place - 5, width="10", height="10")
    line = "ownline" if column.ours else "baseline"
    hit = tag("circle", class_="hit", cx=x, cy=place, r="16")
    number = numbers.significant(column.rate, 3)
    label = f"{column.name}: {number} {unit}{', stale' if column.stale else ''}"
    parts = [tag("title", label), hit, *whisker(x, y(column.low), y(column.high), line), shape]
    if spot:
        parts.append(drawn(number, spot, "st" if column.stale else "o" if column.ours else "b"))
    return tag("a", join(parts), href=column.href) if column.href else tag("g", join(parts))


def _names(panel: Panel, places: Sequence[float]) -> tuple[list[Markup], int]:
    """Return the names under the axis, each in the first row where it touches no other name, and the number of rows."""
    ends: list[float] = []
    parts: list[Markup] = []
    for column, x in zip(panel.columns, places, strict=True):
        half = text_width(column.name) / 2
        middle = min(max(x, half), panel.width - half)
        row = next((n for n, end in enumerate(ends) if end < middle - half), len(ends))
        ends[row : row + 1] = [middle + half + 6]
        if row:
            parts.append(path(f"M{at(x)} {at(_BOTTOM)}V{at(_BOTTOM + 5 + _ROW * row)}", "lead"))
        parts.append(text(column.name, middle, _BOTTOM + 18 + _ROW * row, "mid halo"))
    return sorted(parts, key=lambda part: part.startswith("<text")), len(ends)


def _sides(panel: Panel, places: Sequence[float], y: float) -> list[Markup]:
    """Return the words `baselines` and `ours` under their columns."""
    kinds = ("baselines", False), ("ours, in the order written", True)
    sides = [(name, [x for c, x in zip(panel.columns, places, strict=True) if c.ours is ours]) for name, ours in kinds]
    return [text(name, (xs[0] + xs[-1]) / 2, y, "mid") for name, xs in sides if xs]
