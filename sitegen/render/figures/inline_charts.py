"""Draw the small charts that stand inside text and tables: the bar of a share, the squares of a series, the days of a
worklog.

All of them use the same grammar: solid is measured, hollow is predicted, dashed is planned, hatched is stale.
"""

from __future__ import annotations

import datetime as dt
import itertools
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from markupsafe import Markup

from sitegen.markup.svg import at, join, tag, text
from sitegen.render.shared import numbers

_BAR_WIDTH, _BAR_HEIGHT = 112, 11


class Mark(StrEnum):
    """The class of a mark in the style sheet."""

    OURS = "own"
    BASELINE = "v"
    STALE = "old"


def bar(share: float | None, mark: Mark, predicted: float | None = None) -> Markup:
    """Return a bar for a share of the ceiling: 1 reaches the end mark, and the ring is the prediction."""
    parts = [tag("rect", class_="track", width="100%", height="100%")]
    if share is not None:
        parts.append(_filled(mark, _percent(share)))
    parts.append(tag("rect", class_="end", x="100%", y="-2", width="1", height="15"))
    if predicted is not None:
        parts.append(tag("circle", class_="p", cx=_percent(predicted), cy="50%", r="3.5"))
    return tag("svg", join(parts), class_="bar", width=_BAR_WIDTH, height=_BAR_HEIGHT, aria_hidden="true")


def _filled(mark: Mark, width: str) -> Markup:
    """Return the filled part of a bar.  A stale one is hatched by a thick broken line, because a pattern would have to
    be defined on every page.
    """
    if mark is Mark.STALE:
        return tag("line", class_=mark.value, x2=width, y1="50%", y2="50%")
    return tag("rect", class_=mark.value, width=width, height="100%")


def _percent(share: float) -> str:
    """Return a share as a percentage of the bar's width, at most 105 %, to show a share above the ceiling."""
    return f"{round(min(max(share, 0.0), 1.05) * 100, 1):g}%"


@dataclass(frozen=True, slots=True)
class Square:
    """A post in a series.  Its state is empty when it is published, `here` on its own page, or `plan`."""

    state: str = ""


def strip(phases: Sequence[Sequence[Square]]) -> Markup:
    """Return one square for each post, with a gap between phases.

    All squares of one state are one SVG path of equal steps: every post of a series shows the strip, and equal steps
    compress well.
    """
    places: dict[str, list[int]] = {}
    x = 0
    for phase in phases:
        for square in phase:
            places.setdefault(square.state, []).append(x)
            x += 12
        x += 6 if phase else 0
    width = max(x - 8, 1)
    attributes = {"viewBox": f"0 0 {width} 10", "width": round(width * 1.2), "height": 12}
    parts = [_squares(state, starts) for state, starts in places.items()]
    return tag("svg", join(parts), class_="strip", aria_hidden="true", **attributes)


def _squares(state: str, starts: Sequence[int]) -> Markup:
    """Return the squares of one state, as `tag` would write them.  A string is faster, and each post of a series shows
    all squares.
    """
    steps = "".join([f"m{x - before} 0h9v9h-9z" for before, x in itertools.pairwise(starts)])
    class_ = f' class="{state}"' if state else ""
    return Markup(f'<path{class_} d="M{starts[0] + 0.5} .5h9v9h-9z{steps}"/>')


def road(phases: Sequence[tuple[str, Sequence[Square]]], width: float = 384) -> Markup:
    """Return the phases of a series side by side: each has a title, and a block for each post, solid or planned."""
    shown = [(title, squares) for title, squares in phases if squares]
    gap, between = 3.4, 16.9
    total = sum(len(squares) for _, squares in shown)
    room = width - between * (len(shown) - 1) - gap * sum(len(squares) - 1 for _, squares in shown)
    block, x, parts = room / max(total, 1), 0.0, list[Markup]()
    names = [lines_of(title, len(squares) * (block + gap) + between - 6 - gap) for title, squares in shown]
    below = 14.0 * max(map(len, names), default=1)
    for lines, (_, squares) in zip(names, shown, strict=True):
        parts += (text(line, x, below - 14 * above) for above, line in enumerate(reversed(lines)))
        size = f'y="{below + 10:g}" width="{at(block - 1)}" height="10"'
        for square in squares:  # a string as `tag` would write it: a site may have thousands
            parts.append(
                Markup(f'<rect class="{"pl" if square.state == "plan" else "fill"}" x="{at(x + 0.5)}" {size}/>')
            )
            x += block + gap
        x += between - gap
    height = below + 24
    box = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return tag("svg", join(parts), class_="chart road", aria_hidden="true", **box)


def lines_of(title: str, pixels: float) -> list[str]:
    """Return the words of a title on lines of at most `pixels`, with 6.2 pixels for a letter.  A word that is too long
    is cut and ends with `…`.
    """
    most = max(int(pixels / 6.2), 2)
    lines = [""]
    for word in title.split():
        cut = word if len(word) <= most else f"{word[: most - 1]}…"
        longer = f"{lines[-1]} {cut}".strip()
        if len(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(cut)
    return lines


def level(words: int) -> int:
    """Return the amount written on a day, 0 to 4: nothing, a line, a few lines, a page, a long day."""
    return bisect_left((0, 25, 100, 300), words)


def level_of_count(count: int) -> int:
    """Return the amount of things done on a day, 0 to 4: none, one, up to three, up to six, more."""
    return bisect_left((0, 1, 3, 6), count)


def heat(
    levels: Mapping[dt.date, int],
    last: dt.date,
    weeks: int = 26,
    *,
    first: dt.date | None = None,
    today: dt.date | None = None,
    what: str = "Days written",
    period: str = "",
) -> Markup:
    """Return the days of the last half year, or since the day `first` when that is later, one column for each week.

    `levels` gives the amount of a day, 0 to 4.  `first` is by default its earliest day.  `today` is marked, by default
    the last day.  The size of a square shows the amount, so that no reader depends on a shade.  `what` and `period`
    name the amount, and the days when they are not the last weeks, for readers who do not see the squares.
    """
    monday = first_monday(min(levels, default=last) if first is None else first, last, weeks)
    weeks = (last - monday).days // 7 + 1
    days = [monday + dt.timedelta(days=n) for n in range((last - monday).days + 1)]
    places = [(day, 34 + 15 * ((day - monday).days // 7), 18 + 15 * day.weekday()) for day in days]
    squares = [_day_square(x, y, levels.get(day, 0), day == (today or last)) for day, x, y in places]
    names = [text(name, 0.0, 28.0 + 15 * row) for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"), (6, "Sun"))]
    months = [
        text(numbers.MONTHS[day.month - 1][:3], float(x), 10.0)
        for day, x, _ in places
        if day.weekday() == 0 and (day.day <= 7 or (day == monday and day.day <= 15))
    ]
    counted = sum(1 for day in days if levels.get(day, 0))
    period = period or f"the last {numbers.count(weeks, 'week')}"
    label = f"{what} in {period}: {counted} of {len(days)}. The larger the square, the more."
    width = max(160, 34 + 15 * weeks)
    box = {"viewBox": f"0 0 {width} 123", "width": width, "height": 123, "role": "img", "aria-label": label}
    return tag("svg", join([*names, *months, *squares]), class_="chart heat", **box)


def first_monday(first: dt.date, last: dt.date, weeks: int) -> dt.date:
    """Return the Monday of the first day, at most `weeks` weeks before the last day."""
    earliest, latest = (last - dt.timedelta(days=last.weekday() + 7 * n) for n in (weeks - 1, 0))
    return min(max(first - dt.timedelta(days=first.weekday()), earliest), latest)


def _day_square(x: float, y: float, level_: int, today: bool) -> Markup:
    side = (2.0, 4.0, 6.5, 9.0, 12.0)[level_]
    class_ = "today" if today and level_ else "fill" if level_ else "nil"
    return tag("rect", class_=class_, x=x + 6 - side / 2, y=y + 6 - side / 2, width=side, height=side)
