"""Draw the map of a series: a column for each phase, a box for each step, and a line from what is needed to its user.

Posts are boxes, exercises have round ends, and what is not written yet is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag, text
from sitegen.render.figures.inline_charts import lines_of

WIDTH, HEIGHT, GAP, PITCH = 176.0, 44.0, 56.0, 60.0
"""The size of a box, the space between two columns, and the distance from a box to the next, in pixels."""
_LEFT, _TOP = 14.0, 40.0
_BESIDE = 10.0
"""The distance of a line beside a column from its boxes."""


@dataclass(frozen=True, slots=True)
class MapNode:
    title: str
    label: str
    """What a screen reader says: the title, the kind, the state."""
    href: str = ""
    """The link of the box; empty when there is no page."""
    exercise: bool = False
    planned: bool = False
    newest: bool = False


@dataclass(frozen=True, slots=True)
class MapColumn:
    """A phase."""

    name: str
    """`Phase 1`; empty for a series without phases."""
    title: str
    nodes: tuple[MapNode, ...]


def roadmap(columns: Sequence[MapColumn], edges: Sequence[tuple[int, int]], label: str) -> Markup:
    """Return the map; `edges` are pairs (needed, user) of indices into the nodes of all columns, in their order."""
    places = [(x, row) for x, column in enumerate(columns) for row in range(len(column.nodes))]
    nodes = [node for column in columns for node in column.nodes]
    lines = [_line(places[a], places[b], nodes[a].planned or nodes[b].planned) for a, b in edges]
    boxes = [_box(node, *_corner(place)) for node, place in zip(nodes, places, strict=True)]
    width = _LEFT + len(columns) * WIDTH + (len(columns) - 1) * GAP + 2
    height = _TOP + max((len(column.nodes) for column in columns), default=0) * PITCH
    box = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    role = "group" if any(node.href for node in nodes) else "img"
    parts = [*lines, *(part for x, column in enumerate(columns) for part in _heading(x, column)), *boxes]
    return tag("svg", join(parts), class_="chart graph", role=role, aria_label=label, **box)


def _corner(place: tuple[int, int]) -> tuple[float, float]:
    """Return the upper left corner of a box."""
    column, row = place
    return _LEFT + column * (WIDTH + GAP), _TOP + row * PITCH


def _heading(column: int, phase: MapColumn) -> Iterator[Markup]:
    x, _ = _corner((column, 0))
    if phase.name:
        yield text(phase.name, x, 14, "dim")
    yield text(lines_of(phase.title, WIDTH - 56)[0], x + (56 if phase.name else 0), 14, "b")
    yield path(f"M{at(x)} 24h{at(WIDTH)}", "axis")


def _box(node: MapNode, x: float, y: float) -> Markup:
    classes = ["node", *(["ex"] if node.exercise else []), *(["plan"] if node.planned else [])]
    classes += ["now"] if node.newest else []
    rounded = HEIGHT / 2 if node.exercise else None
    box = tag("rect", class_=" ".join(classes), x=x, y=y, width=WIDTH, height=HEIGHT, rx=rounded)
    lines = _two_lines(node.title, WIDTH - 28)
    first = y + HEIGHT / 2 + 4.5 - 8 * (len(lines) - 1)
    spaced = [*(f"{line} " for line in lines[:-1]), lines[-1]]  # the name of a link is its lines, one after the other
    words = [text(line, x + 14, first + 16 * at_, "dim" if node.planned else None) for at_, line in enumerate(spaced)]
    drawn = join([box, *words])
    return tag("a", drawn, href=node.href, aria_label=node.label) if node.href else tag("g", drawn)


def _two_lines(title: str, pixels: float) -> list[str]:
    lines = lines_of(title, pixels)
    return lines if len(lines) <= 2 else [lines[0], f"{lines[1]} …"]


def _line(needed: tuple[int, int], user: tuple[int, int], planned: bool) -> Markup:
    (x1, y1), (x2, y2) = _corner(needed), _corner(user)
    middle1, middle2 = y1 + HEIGHT / 2, y2 + HEIGHT / 2
    if needed[0] == user[0]:
        below = user[1] == needed[1] + 1
        d = f"M{at(x1 + 20)} {at(y1 + HEIGHT)}V{at(y2)}" if below else _beside(x1, middle1, middle2)
    elif user[0] == needed[0] + 1:
        half = x1 + WIDTH + GAP / 2
        d = f"M{at(x1 + WIDTH)} {at(middle1)}C{at(half)} {at(middle1)} {at(half)} {at(middle2)} {at(x2)} {at(middle2)}"
    else:  # between the rows, so that no box is crossed
        lane, out = y2 - (PITCH - HEIGHT) / 2, x1 + WIDTH + _BESIDE
        d = f"M{at(x1 + WIDTH)} {at(middle1)}H{at(out)}V{at(lane)}H{at(x2 - _BESIDE)}V{at(middle2)}H{at(x2)}"
    return path(d, "link plan" if planned else "link")


def _beside(x: float, start: float, end: float) -> str:
    return f"M{at(x)} {at(start)}H{at(x - _BESIDE)}V{at(end)}H{at(x)}"
