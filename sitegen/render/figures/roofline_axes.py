"""Define the content of a roofline, and map intensities and rates to pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.markup.svg import Pair
from sitegen.render.figures.labels import PITCH
from sitegen.render.figures.scales import Log

WIDTH, HEIGHT = 440, 388
LEFT, RIGHT, TOP, BOTTOM = 46.0, 430.0, 20.0, 336.0
_SPAN, _DEPTH = RIGHT - LEFT, BOTTOM - TOP
_ROOF = 130.0
"""The room for the name of a roof to the right of its ridge, in pixels."""
LABEL_UP = 4.0
"""The distance from the middle of a text down to its baseline, in pixels."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A memory level: its name and its bandwidth."""

    name: str
    bytes_per_s: float
    datasheet_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Roof:
    """The arithmetic rate of one dtype."""

    name: str
    flops_per_s: float
    datasheet_flops_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A program: its algorithmic intensity and its rate; `low` and `high` are the rates at p80 and p20 of its time."""

    name: str
    flops_per_byte: float
    flops_per_s: float
    low_flops_per_s: float
    high_flops_per_s: float
    ours: bool
    stale: bool = False
    dram_flops_per_byte: float | None = None
    """The intensity by the bytes that the DRAM counted; None where no valid count exists."""
    sustained_flops_per_s: float | None = None
    """The sustained rate of a matrix kernel, whose other rates are those of a burst."""
    title: str = ""
    """The point in words; empty means its name and rate."""
    href: str = ""
    """The link to the program's row in a table."""


@dataclass(frozen=True, slots=True)
class Roofline:
    gpu: str
    kernel: str
    slopes: Sequence[Slope]
    """The memory with the kernel's mix of reads and writes first, whose ridges are named; then L2 and shared memory."""
    roofs: Sequence[Roof]
    points: Sequence[Point]
    """The programs in the order in which they were written; a path joins ours."""
    letter: str = ""
    """The letter of this picture when a figure has two pictures: `a`."""

    @property
    def memory(self) -> float:
        """The bandwidth of the first slope, in bytes per second."""
        return self.slopes[0].bytes_per_s

    def ridge(self, roof: Roof) -> float:
        """Return the intensity (FLOP/byte) from which on arithmetic is the limit."""
        return roof.flops_per_s / self.memory


@dataclass(frozen=True, slots=True)
class Field:
    """The two axes, which give the pixels of intensities and rates."""

    x: Log
    y: Log

    def at(self, intensity: float, rate: float) -> Pair:
        return self.x(intensity), self.y(rate)

    def mark(self, point: Point) -> Pair:
        return self.at(point.flops_per_byte, point.flops_per_s)

    def slope(self, bytes_per_s: float, top: float) -> tuple[Pair, Pair]:
        """Return the two ends of a slope: where it enters the chart, and where it reaches `top` or leaves the chart."""
        low = max(self.x.low, self.y.low / bytes_per_s)
        high = min(top / bytes_per_s, self.x.high, self.y.high / bytes_per_s)
        return self.at(low, low * bytes_per_s), self.at(high, high * bytes_per_s)


def axes_of(chart: Roofline, names: float, beside: Sequence[Roofline] = ()) -> Field:
    """Return axes around every point and every ridge, with `names` pixels of room for names to the right of the points,
    and room for the column of names below the highest point.

    The charts `beside` fit on the same axes, so that a reader can compare charts of several GPUs.
    """
    limits = [_limits(one, names) for one in (chart, *beside)]
    x_low, y_low = (min(one[axis][0] for one in limits) for axis in (0, 1))
    x_high, y_high = (max(one[axis][1] for one in limits) for axis in (0, 1))
    return Field(Log(x_low, x_high, LEFT, RIGHT), Log(y_low, y_high, BOTTOM, TOP))


def _limits(chart: Roofline, names: float) -> tuple[Pair, Pair]:
    """Return the ends of the horizontal and of the vertical axis that one chart needs."""
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
        depth = PITCH * len(chart.points) + (
            76 if lowest_roof < fastest else 10
        )  # a column of names fits below a roof that is lower than the points
        share, below = min(depth / _DEPTH, 0.65), min(fastest, lowest_roof)
        y_low = min(y_low, below * (below / y_high) ** (share / (1 - share)))
    return (x_low, x_high), (y_low, y_high)


def levels(chart: Roofline, field: Field) -> list[Slope]:
    """Return the slopes of the caches that are visible within the chart."""
    top = _highest(chart, field)
    return [slope for slope in chart.slopes[1:] if top / slope.bytes_per_s > field.x.low * 1.2]


def slope_of(chart: Roofline, field: Field, bytes_per_s: float) -> tuple[Pair, Pair]:
    """Return the two ends of a slope: where it enters the chart, and where it reaches the highest roof or leaves the
    chart.
    """
    return field.slope(bytes_per_s, _highest(chart, field))


def _highest(chart: Roofline, field: Field) -> float:
    """Return the rate of the highest roof; without a roof, the rate at the top of the chart."""
    return max((roof.flops_per_s for roof in chart.roofs), default=field.y.high)
