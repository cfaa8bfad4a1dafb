"""What a roofline shows, and the axes on which it stands, in pixels."""

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
"""Room for the name of a roof to the right of its ridge."""
LABEL_UP = 4.0
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
class Field:
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


def axes_of(chart: Roofline, names: float) -> Field:
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
    return Field(Log(x_low, x_high, LEFT, RIGHT), Log(y_low, y_high, BOTTOM, TOP))


def levels(chart: Roofline, field: Field) -> list[Slope]:
    """The slopes of the caches that rise within the chart."""
    top = _highest(chart, field)
    return [slope for slope in chart.slopes[1:] if top / slope.bytes_per_s > field.x.low * 1.2]


def slope_of(chart: Roofline, field: Field, bytes_per_s: float) -> tuple[Pair, Pair]:
    """From where it enters the chart up to the highest roof, or to where it leaves the chart."""
    return field.slope(bytes_per_s, _highest(chart, field))


def _highest(chart: Roofline, field: Field) -> float:
    """The rate of the highest roof; without one that at which the chart ends."""
    return max((roof.flops_per_s for roof in chart.roofs), default=field.y.high)
