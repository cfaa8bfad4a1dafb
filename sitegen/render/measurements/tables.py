"""Turn rows of measurements into a table for the templates: every cell is text, and a column of a group has equal
decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from markupsafe import Markup

from sitegen.model.kernel import Status
from sitegen.model.record import Performance, Role, Sustained
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.rows import Group, Row
from sitegen.render.measurements.benchmark_columns import benchmark_column
from sitegen.render.measurements.provenance import Provenance
from sitegen.render.shared import numbers

SHORT_SHARE = 0.01
"""An empty kernel is mentioned when it takes more than this share of the fastest implementation's time."""
APART_FROM_NCU = 0.03
"""The time of a row and that of ncu's counted call may differ by this share before the head of the rows says so."""
_MOST_RATIOS = 3


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    bar: bool = False
    """Whether it heads a narrow column of bars, which has no name."""
    class_: str = ""
    """The class of the column: `l` for words, `t` for sentences."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its name, state and cells.  `reason` replaces the cells when there is nothing to show."""

    id: str
    """Empty where nothing links to the row."""
    name: str
    state: str
    """A class of the state grammar: `ours`, `base`, `stale`, `failed`, `planned`, or empty for the ceiling."""
    class_: str
    cells: tuple[str | Markup, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    """The sentences in a row of their own below the cells."""


@dataclass(frozen=True, slots=True)
class Body:
    """The rows of one workload × dtype."""

    name: str = ""
    """The heading of the rows; empty means no heading."""
    facts: str = ""
    stale: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    id: str
    caption: str
    label: str
    """The label before the caption: `Table 1.`"""
    headings: tuple[Heading, ...]
    bodies: tuple[Body, ...]
    provenance: tuple[Provenance, ...]
    """The provenance of each run that made a row, newest first."""
    wide: bool = True
    first: str = "implementation"
    """The heading of the first column."""
    record: str = ""
    """The record of its figures, for `sitegen verify`: `softmax nvidia-h200`; empty within a part that names it."""

    @property
    def width(self) -> int:
        return len(self.headings) + 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a listing.  `text` returns its cell for a row, empty where there is nothing to say."""

    title: str
    text: Callable[[Group, Row], str]
    left: bool = False


def listing(
    id: str,
    caption: str,
    shown: Iterable[tuple[Body, Group, Sequence[Row]]],
    columns: Sequence[Column],
    provenance: tuple[Provenance, ...] = (),
    linked: bool = False,
) -> Table:
    """Return a table of facts as plain texts, under the headings of the bodies.  Empty columns are left out.  `linked`
    gives each row an id.
    """
    parts = list(shown)
    said = [c for c in columns if any(c.text(group, row) for _, group, rows in parts for row in rows)]

    def line(n: int, group: Group, row: Row) -> Line:
        cells = tuple(column.text(group, row) for column in said)
        return Line(f"{id}-{n}-{part_of_id(row.name)}" if linked else "", row.name, _state(row), "", cells)

    bodies = tuple(
        replace(head, lines=tuple(line(n, group, row) for row in rows)) for n, (head, group, rows) in enumerate(parts)
    )
    headings_ = tuple(Heading(column.title, class_="l" if column.left else "") for column in said)
    return Table(id, caption, "", headings_, bodies, provenance, wide=False)


def columns_for(groups: Sequence[Group], baselines: Sequence[str], wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that the author asked for, else the share of the ceiling, the ratios to as many baselines as
    fit beside each other on a page, the times and the rate: a phone shows the first of them.
    """
    if wanted:
        return tuple(wanted)
    rate = "bandwidth" if all(group.bound_by_memory for group in groups) else "operations"
    held = any(row.performance and row.performance.sustained for group in groups for row in group.rows)
    times = ("burst", "spread", "sustained") if held else ("time", "spread")
    return ("of-ceiling", *(f"vs: {name}" for name in baselines[: _MOST_RATIOS - held]), *times, rate)


def headings(columns: Sequence[str]) -> tuple[Heading, ...]:
    headings: list[Heading] = []
    for column in map(benchmark_column, columns):
        headings.append(Heading(column.title))
        if column.bar:
            headings.append(Heading("", bar=True))
    return tuple(headings)


def folded(table: Table) -> Table:
    """Return a table as it stands in a fold: without bars, whose numbers stand beside them, and without addresses of
    rows, to which nothing links.
    """
    kept = [not heading.bar for heading in table.headings]

    def line(one: Line) -> Line:
        return replace(one, id="", cells=tuple(compress(one.cells, kept)))

    bodies = tuple(replace(one, lines=tuple(map(line, one.lines))) for one in table.bodies)
    return replace(table, headings=tuple(compress(table.headings, kept)), bodies=bodies)


def body(group: Group, columns: Sequence[str], prefix: str) -> Body:
    """Return the rows of a group; `prefix` makes their ids unique on the page."""
    shown = [benchmark_column(column).cells(group.rows) for column in columns]
    common = _common_notes(group)
    lines = (_line(row, columns, [column[n] for column in shown], prefix) for n, row in enumerate(group.rows))
    kept = (replace(line, notes=tuple(note for note in line.notes if note not in common)) for line in lines)
    return replace(head_of_times(group), stale=_common_reason(group), lines=tuple(kept))


def head(group: Group) -> Body:
    """Return the heading of a group without rows: `8192 × 8192 float32, 537 MB`."""
    return Body(numbers.shape(group.workload.name), ", ".join(_facts(group)))


def head_of_times(group: Group) -> Body:
    """Return the heading of a group whose rows have times, with the facts about these: `…, noise 0.11 %`."""
    facts = [*_facts(group), *_facts_of_times(group), *sorted(_common_notes(group))]
    return Body(numbers.shape(group.workload.name), ", ".join(facts))


def _facts(group: Group) -> list[str]:
    params = "".join(f", {name} {value}" for name, value in sorted(group.params.items()))
    return [f"{group.dtype}{params}", numbers.size(group.cost.bytes)]


def _facts_of_times(group: Group) -> Iterator[str]:
    if group.noise is not None:
        yield f"noise {numbers.percent(group.noise, 2)}"
    if share := group.in_cycles:
        half = (share.high - share.low) / 2 / share.value
        yield f"share of the ceiling in SM cycles, ceiling ±{numbers.percent(half, 2)}"
    if empty_us := _empty_kernel_us(group):
        yield f"an empty kernel takes {numbers.with_unit(numbers.fixed(empty_us, 1), 'µs')} here"
    if apart := _apart_from_ncu(group):
        yield f"ncu’s times differ by up to {apart}"


def _empty_kernel_us(group: Group) -> float:
    """Return the time of an empty kernel where calls are so short that it counts; 0 elsewhere."""
    timed = [row.performance for row in group.rows if row.performance and row.ours]
    fastest_us = min((p.median_us for p in timed), default=0.0)
    empty_us = max((p.empty_kernel_us or 0.0 for p in timed), default=0.0)
    return empty_us if empty_us > SHORT_SHARE * fastest_us else 0.0


def _apart_from_ncu(group: Group) -> str:
    """Return the largest difference of ncu's time from ours, and its row: `7 % (cluster)`; empty within the limit.

    Products are compared in cycles, since their clock depends on the calls around them.
    """
    both = [(row, p, c) for row in group.rows if (p := row.performance) and (c := row.counters) and c.duration_us]
    apart = {row.name: abs(counted.duration_us / timed.median_us - 1) for row, timed, counted in both}
    worst = max(apart, key=lambda name: apart[name], default="")
    if group.cost.is_matrix or apart.get(worst, 0.0) <= APART_FROM_NCU:
        return ""
    return f"{numbers.percent(apart[worst], 0)} ({worst})"


def _common_notes(group: Group) -> frozenset[str]:
    """Return the notes on every time of the group, which stand in its heading instead."""
    notes = [frozenset(_notes(row)) for row in group.rows if row.performance]
    return frozenset.intersection(*notes) if len(notes) > 1 else frozenset()


def _common_reason(group: Group) -> str:
    """Return the reason for which all our results in a group are stale, which stands once in its heading; empty when
    reasons differ.
    """
    ours = [row for row in group.rows if row.ours and row.performance]
    reasons = {row.stale for row in ours}
    return reasons.pop() if len(reasons) == 1 else ""


def _line(row: Row, columns: Sequence[str], texts: Sequence[str], prefix: str) -> Line:
    id_, name = f"{prefix}-{part_of_id(row.name)}", _name(row)
    if not row.performance:
        return Line(id_, name, _state(row), "", reason=why_no_time(row))
    cells: list[str | Markup] = []
    for column, shown in zip(columns, texts, strict=True):
        cells.append(shown)
        if benchmark_column(column).bar:
            cells.append(_bar(row, column))
    class_ = "ceil" if row.role is Role.PROBE else "own" if row.best else ""
    return Line(id_, name, _state(row), class_, tuple(cells), notes=_notes(row))


def part_of_id(name: str) -> str:
    """Return a name as a part of an id: other characters than letters, digits, `-` and `_` become `-`."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)


def _name(row: Row) -> str:
    return f"{row.name} of the same bytes" if row.role is Role.PROBE else row.name


def _state(row: Row) -> str:
    if row.failed:
        return "failed"
    if row.role is Role.PROBE:
        return ""
    if row.performance is None:
        return "planned"
    return "stale" if row.stale else "ours" if row.ours else "base"


def in_one_line(message: str) -> str:
    """Return the message of a compiler or a checker in one line, without the NUL at the end of NVRTC's log, which HTML
    forbids.
    """
    return " ".join(message.replace("\0", " ").split())


def why_no_time(row: Row) -> str:
    """Return the reason for which a row has no time: `incorrect: …` with a failure's message, or the status alone."""
    if row.evaluation is None:
        return "not measured yet"
    status, message = row.evaluation.status.words, in_one_line(row.evaluation.message)
    if len(message) > 240:
        message = f"{message[:239]}…"
    if row.evaluation.status is Status.DOES_NOT_FIT:
        return f"{status} ({message})"
    return f"{status}: {message.rstrip('.')}. Not timed." if message else f"{status}, not timed"


def _notes(row: Row) -> tuple[str, ...]:
    performance = row.performance
    if performance is None:
        return ()
    notes = [
        row.stale and f"stale: {row.stale}",
        row.outdated and f"outdated: {row.outdated}",
        performance.launch_bound and "launch-bound",
    ]
    notes += [performance.allocates and "allocates", not performance.converged and "not converged"]
    notes += [_late(timed) for timed in (performance, performance.sustained) if timed]
    return tuple(note for note in notes if note)


def _late(timed: Performance | Sustained) -> str:
    """Return a remark on rounds in which the GPU may have waited for the host; empty when there were none."""
    return f"host time in {timed.late_rounds} of {len(timed.rounds_us)} rounds" if timed.late_rounds else ""


def _bar(row: Row, column: str) -> Markup:
    share = row.share(column)
    mark = Mark.STALE if row.stale else Mark.OURS if row.ours else Mark.BASELINE
    return bar(share, mark, row.predicted_share(column))
