"""Turn the runs of a kernel on one GPU into the course of its best implementation at every workload, and the changes
from run to run.

A course is a sparkline with the noise of equal code as a band: a point outside of the band is a change, and a point
inside may be chance.  The tables state all figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.svg import join, path, polyline, tag
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.render.figures.scales import Linear
from sitegen.render.inputs.rows import Group
from sitegen.render.shared import numbers
from sitegen.results.history import HistoryPoint, timelines
from sitegen.results.noise import AA_NOISE
from sitegen.results.record_differences import newer_versions
from sitegen.results.records import PastRun
from sitegen.results.verdicts import Verdict

_WIDTH, _HEIGHT = 240, 40
_TOP, _BOTTOM, _LEFT, _RIGHT = 6.0, 34.0, 6.0, 234.0
_SIGMAS = 2
"""Half the height of the band in standard deviations; the band holds 95 % of the runs of equal code."""
_ROOM = 3
"""The least height of the field in heights of the band, so that the band is visible when all runs lie in it."""
_THINNEST = 4.0
"""The least height of the band in pixels; a thinner one would not be visible."""
_SHOWN = 6
"""The most runs on the kernel's own page."""


@dataclass(frozen=True, slots=True)
class Course:
    """The best implementation at one workload, run by run."""

    workload: str
    dtype: str
    name: str
    drawn: Markup
    """The sparkline; empty without a ratio."""
    ratio: str
    """The newest ratio."""
    of_ceiling: str
    noise: str
    verdict: str
    """The verdict on the newest run against the one before; `first` when there is none."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One run in the history of a kernel."""

    run: str
    date: str
    commit: str
    ratio: str
    of_ceiling: str
    verdict: str
    others: str
    """The verdicts at all other workloads: `10 same, 1 slower`."""
    why: str
    notable: bool
    """Whether a figure moved, or the run used another version of its software."""


@dataclass(frozen=True, slots=True)
class History:
    subject: str
    """The implementation, workload and dtype: `softmax/fused at 8192 × 8192 in float32`."""
    heading: str
    """The heading of the ratios: `× torch`."""
    courses: tuple[Course, ...]
    lines: tuple[HistoryLine, ...]
    """All runs, newest first."""

    @property
    def notable(self) -> tuple[HistoryLine, ...]:
        """The newest run, and the latest of the other runs in which something moved."""
        return (*self.lines[:1], *(line for line in self.lines[1:] if line.notable))[:_SHOWN]


def history(
    kernel: Kernel, record: Record, runs: Sequence[PastRun], shown: Sequence[Group], first: Group | None
) -> History | None:
    """Return the history of a kernel.  Its lines follow the best implementation of `first`; None when no stored run
    timed it.
    """
    followed = [group for group in ([first] if first else []) + [g for g in shown if g is not first] if group.best]
    ones = [group.best.evaluation for group in followed if group.best and group.best.evaluation]
    courses = timelines(kernel, record, runs, ones)
    if first is None or first.best is None or not courses or not courses[0]:
        return None
    baseline = next(iter(kernel.baselines), "")
    return History(
        subject=f"{kernel.name}/{first.best.name} at {numbers.shape(first.workload.name)} in {first.dtype}",
        heading=f"×{numbers.NBSP}{baseline}" if baseline else "ratio",
        courses=tuple(_course(group, moments, baseline) for group, moments in zip(followed, courses, strict=True)),
        lines=tuple(_lines(courses[0], courses[1:], baseline)),
    )


def _course(group: Group, moments: Sequence[HistoryPoint], baseline: str) -> Course:
    ratios = [(moment.past.date, ratio.value) for moment in moments if (ratio := moment.ratio(baseline))]
    last = moments[-1] if moments else None
    noise = group.noise if group.noise is not None else last.noise if last else AA_NOISE
    name = group.best.name if group.best else ""
    title = f"{name} at {numbers.shape(group.workload.name)} in {group.dtype}, × {baseline}"
    return Course(
        workload=numbers.shape(group.workload.name),
        dtype=group.dtype + "".join(f", {key} {value}" for key, value in sorted(group.params.items())),
        name=name,
        drawn=sparkline(title, ratios, noise) if ratios else Markup(),
        ratio=numbers.fixed(ratios[-1][1], 2) if ratios else "",
        of_ceiling=_percent(last.of_ceiling) if last else "",
        noise=numbers.percent(noise, 2),
        verdict=(last.row.verdict.value if last.row else "first") if last else "not kept",
    )


def sparkline(title: str, ratios: Sequence[tuple[str, float]], noise: float) -> Markup:
    """Return the SVG of at least one (date, ratio), oldest first.  The band shows the results to expect when the newest
    code runs again.
    """
    newest, half = ratios[-1][1], _SIGMAS * noise
    band = newest * (1 - half), newest * (1 + half)
    around = newest * (1 - _ROOM * half), newest * (1 + _ROOM * half)
    y = _axis([*around, *(value for _, value in ratios)])
    x = Linear(0.0, float(max(len(ratios) - 1, 1)), _LEFT, _RIGHT)
    points = [(x(float(n)) if len(ratios) > 1 else _RIGHT, y(value)) for n, (_, value) in enumerate(ratios)]
    height = max(y(band[0]) - y(band[1]), _THINNEST)
    about = f"{numbers.count(len(ratios), 'run')} from {ratios[0][0]} to {ratios[-1][0]}: "
    about += ", ".join(f"{value:.3f}" for _, value in ratios)
    parts = [
        tag("title", title),
        tag("desc", f"{about}. The band is ±{half:.2%} around the newest, the noise of two runs of the same code."),
        tag("rect", class_="nil", x=0.0, y=(y(band[0]) + y(band[1]) - height) / 2, width=float(_WIDTH), height=height),
        path(polyline(points), "ownline"),
        tag("circle", class_="own", cx=points[-1][0], cy=points[-1][1], r="4"),
    ]
    box = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "height": _HEIGHT, "role": "img"}
    return tag("svg", join(parts), class_="chart spark", **box)


def _axis(values: Sequence[float]) -> Linear:
    """Return an axis from the smallest to the largest value, because a sparkline shows changes, not sizes.  Equal
    values lie in its middle.
    """
    low, high = min(values), max(values)
    return Linear(low, high, _BOTTOM, _TOP) if low < high else Linear(low * 0.99, low * 1.01, _BOTTOM, _TOP)


def _lines(
    moments: Sequence[HistoryPoint], others: Sequence[Sequence[HistoryPoint]], baseline: str
) -> list[HistoryLine]:
    """Return a line for each run, newest first."""
    verdicts: dict[str, Counter[Verdict]] = {moment.past.run: Counter() for moment in moments}
    for other in (moment for course in others for moment in course):
        if other.row and other.past.run in verdicts:
            verdicts[other.past.run][other.row.verdict] += 1
    pairs = zip((None, *moments[:-1]), moments, strict=True)
    return [_line(older, moment, baseline, verdicts[moment.past.run]) for older, moment in pairs][::-1]


def _line(before: HistoryPoint | None, moment: HistoryPoint, baseline: str, others: Counter[Verdict]) -> HistoryLine:
    ratio, past, row = moment.ratio(baseline), moment.past, moment.row
    changed = newer_versions(before.past, past) if before else ()
    return HistoryLine(
        run=past.run,
        date=past.date,
        commit=past.commit,
        ratio=numbers.fixed(ratio.value, 2) if ratio else "",
        of_ceiling=_percent(moment.of_ceiling),
        verdict=row.verdict.value if row else "first",
        others=", ".join(f"{count} {verdict}" for verdict, count in sorted(others.items())),
        why="; ".join([*changed, *([row.reason] if row else [])]),
        notable=bool(changed) or {row.verdict if row else Verdict.SAME, *others} != {Verdict.SAME},
    )


def _percent(share: float | None) -> str:
    return numbers.fixed(share * 100, 1) if share is not None else ""
