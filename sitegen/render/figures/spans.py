"""Draw spans of time on lines: which block was on which SM from when to when, or which copy was on its way.

Spans of one line that overlap are drawn in places below each other.  The shade says how many came before in the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import at, join, path, tag, text
from sitegen.render.figures.axes import Area, Tick, axis_title, every_nth, frame, number
from sitegen.render.figures.labels import text_width
from sitegen.render.figures.scales import Linear

WIDTH = 400
_LEFT, _RIGHT, _TOP, _BELOW = 46.0, 390.0, 22.0, 52.0
_LEAST, _MOST = 220.0, 420.0
"""The least and the most pixels of all lines together."""
_NAMED = 28.0
"""The pixels of a line with a name."""
_GAP = 3.0
"""The pixels left free above and below the spans of a line with a name."""
_SHADES = ("own", "base", "fill")
"""The classes of the first, second and third span of a place, then again from the first."""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took place on a line, in the unit of the axis."""

    name: str
    start: float
    end: float
    line: int


@dataclass(frozen=True, slots=True)
class Spans:
    title: str
    spans: Sequence[Span]
    """At least one."""
    noun: str
    """What a span is: `block`."""
    x_title: str
    y_title: str
    names: Sequence[str] = ()
    """The name of each line; without names, the lines are numbered."""


def places_of(spans: Sequence[Span]) -> list[tuple[Span, int, int]]:
    """Return each span with its place on its line and its number in the place, both from 0, in the order of starts."""
    ends: dict[int, list[float]] = {}
    counts: dict[tuple[int, int], int] = {}
    placed = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        of_line = ends.setdefault(span.line, [])
        place = next((n for n, end in enumerate(of_line) if end <= span.start), len(of_line))
        of_line[place : place + 1] = [span.end]
        nth = counts.get((span.line, place), 0)
        counts[span.line, place] = nth + 1
        placed.append((span, place, nth))
    return placed


def render_spans(chart: Spans, *, id: str) -> Markup:
    """Return the chart as SVG; `id` is unique on the page, and the ids of its title and description begin with it."""
    placed = places_of(chart.spans)
    lines, places = max(span.line for span in chart.spans) + 1, max(place for _, place, _ in placed) + 1
    height = _NAMED * lines * places if chart.names else min(max(_LEAST, 1.0 * lines * places), _MOST)
    left = max([_LEFT, *(text_width(name) + 16 for name in chart.names)])
    area = Area(left, _RIGHT, _TOP, _TOP + height)
    latest = max(span.end for span in chart.spans)
    across, down = Linear(0.0, latest * 1.02, area.left, area.right), height / (lines * places)
    gap = _GAP if chart.names else 0.0
    boxes: dict[str, list[str]] = {}
    for span, place, nth in placed:
        x, y = across(span.start), area.top + (span.line * places + place) * down + gap
        shape = f"M{at(x)} {at(y)}h{at(max(across(span.end) - x, 0.5))}v{at(down - 2 * gap)}H{at(x)}z"
        boxes.setdefault(_SHADES[nth % len(_SHADES)], []).append(shape)
    ticks = [Tick(across(value), number(value)) for value in across.ticks]
    content = [
        tag("title", chart.title, id=f"{id}-title"),
        tag("desc", _words(chart, placed, lines, latest), id=f"{id}-desc"),
        axis_title("", chart.y_title, 4.0),
        *(path(join(parts), f"{class_} span") for class_, parts in sorted(boxes.items())),
        frame(area, [tick.at for tick in ticks]),
        *(
            text(name, area.left - 7, area.top + (n + 0.5) * places * down + 4, "e")
            for n, name in _names(chart.names, lines)
        ),
        *(text(tick.name, tick.at, area.bottom + 20, "mid") for tick in every_nth(ticks)),
        text(chart.x_title, (area.left + area.right) / 2, area.bottom + 42, "mid"),
    ]
    size = {"viewBox": f"0 0 {WIDTH} {height + _TOP + _BELOW:g}", "width": WIDTH, "height": height + _TOP + _BELOW}
    return tag("svg", join(content), class_="chart", role="img", **size, aria_labelledby=f"{id}-title {id}-desc")


def _names(names: Sequence[str], lines: int) -> list[tuple[int, str]]:
    """Return the lines that are named at the axis with their names: all names, or at most seven numbers."""
    if names:
        return list(enumerate(names))
    step = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if lines <= 7 * n)
    return [(n, str(n)) for n in range(0, lines, step)]


def _words(chart: Spans, placed: Sequence[tuple[Span, int, int]], lines: int, latest: float) -> str:
    by_turn: dict[int, list[Span]] = {}
    for span, _, nth in placed:
        by_turn.setdefault(nth, []).append(span)
    turns = "; ".join(
        f"turn {nth + 1}: {len(spans)} {chart.noun}s, from {min(s.start for s in spans):.3g} to "
        f"{max(s.end for s in spans):.3g}"
        for nth, spans in sorted(by_turn.items())
    )
    on = f"{lines} lines ({', '.join(chart.names)})" if chart.names else f"{lines} lines"
    return f"{len(placed)} {chart.noun}s on {on} until {latest:.3g}; {turns}."
