"""The runs of a kernel's best implementation → the rows of its history and a sparkline with the noise of equal code.

All figures stand in the table; the sparkline only shows their course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record
from sitegen.render import numbers
from sitegen.render.svg import Linear, join, path, polyline, tag, text
from sitegen.results.causes import newer_versions
from sitegen.results.history import Moment, moments
from sitegen.results.noise import AA_NOISE
from sitegen.results.records import PastRun

_WIDTH, _HEIGHT = 480, 96
_TOP, _BOTTOM, _LEFT, _RIGHT = 14.0, 68.0, 8.0, 412.0
"""The field of the points; to its right stands the newest value, below it the dates."""
_BAND = 2 * AA_NOISE
"""Half the height of the band: 95 % of the runs of equal code."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    run: str
    date: str
    commit: str
    ratio: str
    of_ceiling: str
    verdict: str
    """Against the run before; `first` when there is none."""
    why: str


@dataclass(frozen=True, slots=True)
class History:
    subject: str
    """`softmax/fused at 8192 × 8192 in float32`."""
    heading: str
    """`× torch`."""
    lines: tuple[HistoryLine, ...]
    """Newest first."""
    sparkline: Markup
    """Empty for fewer than two ratios."""


def history(kernel: Kernel, record: Record, runs: Iterable[PastRun], best: Evaluation | None) -> History | None:
    """Of the implementation `best` at its workload; None without one, or when no run timed it."""
    found = moments(kernel, record, runs, best) if best else ()
    if best is None or not found:
        return None
    baseline = next(iter(kernel.baselines), "")
    subject = f"{kernel.name}/{best.name} at {numbers.shape(best.workload)} in {best.dtype}"
    ratios = [(moment.past.date, ratio.value) for moment in found if (ratio := moment.ratio(baseline))]
    before = (None, *found[:-1])
    lines = [_line(older, moment, baseline) for older, moment in zip(before, found, strict=True)]
    drawn = sparkline(f"{subject}, × {baseline}", ratios) if len(ratios) > 1 else Markup()
    return History(subject, f"× {baseline}" if baseline else "ratio", tuple(reversed(lines)), drawn)


def sparkline(title: str, ratios: Sequence[tuple[str, float]]) -> Markup:
    """At least two (date, ratio), oldest first; the band is what the newest code gives when it is run again."""
    newest = ratios[-1][1]
    band = newest * (1 - _BAND), newest * (1 + _BAND)
    y = _axis([*band, *(value for _, value in ratios)])
    x = Linear(0.0, float(len(ratios) - 1), _LEFT, _RIGHT)
    points = [(x(n), y(value)) for n, (_, value) in enumerate(ratios)]
    about = f"{len(ratios)} runs from {ratios[0][0]} to {ratios[-1][0]}: " + ", ".join(f"{v:.3f}" for _, v in ratios)
    parts = [
        tag("title", title),
        tag("desc", f"{about}. The band is ±{_BAND:.2%} around the newest, the noise of two runs of the same code."),
        tag("rect", class_="nil", x=_LEFT, y=y(band[1]), width=_RIGHT - _LEFT, height=y(band[0]) - y(band[1])),
        path(polyline(points), "ownline"),
        *(tag("circle", class_="own", cx=at_x, cy=at_y, r="4") for at_x, at_y in points),
        text(numbers.ratio(newest), _RIGHT + 10, points[-1][1] + 4, "o"),
        text(ratios[0][0], _LEFT, _HEIGHT - 6.0),
        text(ratios[-1][0], _RIGHT, _HEIGHT - 6.0, "e"),
    ]
    box = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT, "role": "img"}
    return tag("svg", join(parts), class_="chart", **box)


def _axis(values: Sequence[float]) -> Linear:
    """From the smallest to the largest: a sparkline shows changes, not sizes."""
    return Linear(min(values), max(values), _BOTTOM, _TOP)


def _line(before: Moment | None, moment: Moment, baseline: str) -> HistoryLine:
    ratio = moment.ratio(baseline)
    past, row = moment.past, moment.row
    changed = newer_versions(before.past, past) if before else ()
    return HistoryLine(
        run=past.run,
        date=past.date,
        commit=past.commit,
        ratio=numbers.fixed(ratio.value, 2) if ratio else "",
        of_ceiling=numbers.fixed(moment.of_ceiling * 100, 1) if moment.of_ceiling is not None else "",
        verdict=row.verdict.value if row else "first",
        why="; ".join([*changed, *([row.reason] if row else [])]),
    )
