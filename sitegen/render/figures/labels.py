"""Place the words of a chart: estimate the outline of each text, and choose its first spot that touches nothing.

Coordinates are those of the chart.  Every shape is convex and given by its corners.  `Taken` holds the shapes that are
drawn already; each label tries its spots in order of preference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from markupsafe import Markup

from sitegen.markup.svg import Pair, at, path, tag

Shape = tuple[Pair, ...]

SIZE = 14.0
"""The largest size of the text in a chart, in pixels: the size in the style sheet for a phone."""
PITCH = SIZE + 2
_UP, _DOWN = 0.78 * SIZE, 0.26 * SIZE
_BOLD = 1.09
_WIDTHS = {
    **dict.fromkeys("ijl.,·':;|!", 0.28),
    **dict.fromkeys(' \u00a0fIrt/()[]-"', 0.37),
    **dict.fromkeys("cszJkvxy*", 0.5),
    **dict.fromkeys("ABCDEGHKNOPQRSUVXY+=×−±<>#&", 0.74),
    **dict.fromkeys("mMwW%@→…", 0.93),
}
"""The advance of letters in em: the widest among the usual system fonts, whose x-height is half of their size."""
_OTHER, _WIDE = 0.6, 1.05


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the width of a text in pixels at `SIZE`; a letter of another script counts as a square."""
    ems = sum(_WIDTHS.get(c, _OTHER if c < "\u2e80" else _WIDE) for c in text)
    return ems * SIZE * (_BOLD if bold else 1.0)


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a text: a point on its baseline, its alignment and turn, and the leader that connects it to its
    mark.
    """

    x: float
    y: float
    align: str = ""
    """The class of the alignment at `x`: empty for the start of the text, `mid` for its middle, `e` for its end."""
    turn: float = 0.0
    """The angle of the text in radians, clockwise."""
    leader: tuple[Pair, Pair] | None = None


@dataclass(slots=True)
class Taken:
    """The shapes on a chart that no further text may cover."""

    lines: list[Shape] = field(default_factory=list)
    """The lines, which no text may cover.  Leaders may cross them."""
    marks: list[Shape] = field(default_factory=list)
    """The points and texts, which neither a text nor a leader may cover."""

    def add_line(self, points: Sequence[Pair], thick: float = 2.0) -> None:
        self.lines += [stroke(a, b, thick) for a, b in pairwise(points)]

    def free(self, outline: Shape, leader: tuple[Pair, Pair] | None = None) -> bool:
        if any(touch(outline, shape) for shape in (*self.marks, *self.lines)):
            return False
        return leader is None or not any(touch(stroke(*leader, 1.0), shape) for shape in self.marks)


def take_first_free(text: str, spots: Iterable[Spot], taken: Taken, *, bold: bool = False) -> Spot | None:
    """Return the first spot where the text touches nothing, and mark it as taken; None when there is none."""
    for spot in spots:
        shape = outline(text, spot, bold=bold)
        if taken.free(shape, spot.leader):
            taken.marks.append(shape)
            taken.add_line(spot.leader or ())
            return spot
    return None


def outline(text: str, spot: Spot, *, bold: bool = False, pad: float = 1.5) -> Shape:
    """Return the box of a text with a margin of `pad` pixels, turned like the text."""
    width = text_width(text, bold=bold)
    left = spot.x - {"": 0.0, "mid": width / 2, "e": width}[spot.align]
    corners = box(left - pad, spot.y - _UP - pad, left + width + pad, spot.y + _DOWN + pad)
    return tuple(_turned(corner, (spot.x, spot.y), spot.turn) for corner in corners)


def box(left: float, top: float, right: float, bottom: float) -> Shape:
    return (left, top), (right, top), (right, bottom), (left, bottom)


def stroke(a: Pair, b: Pair, thick: float) -> Shape:
    """Return a line between two points as a thin box; for two equal points a small square."""
    length = math.dist(a, b)
    if length < 1e-9:
        return box(a[0] - thick / 2, a[1] - thick / 2, a[0] + thick / 2, a[1] + thick / 2)
    dx, dy = (b[1] - a[1]) / length * thick / 2, (a[0] - b[0]) / length * thick / 2
    return (a[0] + dx, a[1] + dy), (b[0] + dx, b[1] + dy), (b[0] - dx, b[1] - dy), (a[0] - dx, a[1] - dy)


def touch(one: Shape, other: Shape) -> bool:
    """Return whether two convex shapes touch.  They do unless a line that is parallel to an edge of one of them
    separates them.
    """
    left, top, right, bottom = _extent(one)
    other_left, other_top, other_right, other_bottom = _extent(other)
    if right < other_left or other_right < left or bottom < other_top or other_bottom < top:
        return False
    edges = [(b[0] - a[0], b[1] - a[1]) for shape in (one, other) for a, b in pairwise((*shape, shape[0]))]
    return not any(_apart(one, other, (-dy, dx)) for dx, dy in edges if dx and dy)


@lru_cache(maxsize=4096)
def _extent(shape: Shape) -> tuple[float, float, float, float]:
    """Return the least and the greatest coordinates: left, top, right and bottom.

    A shape is asked for again with each text that it might touch.
    """
    xs, ys = zip(*shape, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _apart(one: Shape, other: Shape, axis: Pair) -> bool:
    """Return whether the projections of two shapes on an axis are disjoint."""
    first = [x * axis[0] + y * axis[1] for x, y in one]
    second = [x * axis[0] + y * axis[1] for x, y in other]
    return max(first) < min(second) or max(second) < min(first)


def _turned(point: Pair, around: Pair, angle: float) -> Pair:
    if not angle:
        return point
    x, y, cos, sin = point[0] - around[0], point[1] - around[1], math.cos(angle), math.sin(angle)
    return around[0] + x * cos - y * sin, around[1] + x * sin + y * cos


def spread(wanted: Sequence[float], pitch: float, low: float, high: float) -> list[float]:
    """Return places at least `pitch` apart and as near to `wanted` (ascending) as possible, between `low` and `high`
    where they fit.
    """
    blocks: list[list[float]] = []  # (sum of wanted first places, count) of labels that are `pitch` apart
    for n, place in enumerate(wanted):
        blocks.append([place - n * pitch, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    first = [total / count for total, count in blocks for _ in range(int(count))]
    last = max(low, high - (len(wanted) - 1) * pitch)
    return [min(max(place, low), last) + n * pitch for n, place in enumerate(first)]


def drawn(text: str | Markup, spot: Spot, class_: str) -> Markup:
    """Return the text at its spot."""
    classes = " ".join(filter(None, (class_, "halo", spot.align)))
    if not spot.turn:
        return tag("text", text, class_=classes, x=spot.x, y=spot.y)
    move = f"translate({at(spot.x)} {at(spot.y)}) rotate({at(math.degrees(spot.turn))})"
    return tag("text", text, class_=classes, transform=move)


def leader(spot: Spot) -> Markup:
    """Return the thin line from a mark to its text; empty for a spot without a leader."""
    if spot.leader is None:
        return Markup()
    (x, y), (to_x, to_y) = spot.leader
    return path(f"M{at(x)} {at(y)}L{at(to_x)} {at(to_y)}", "lead")
