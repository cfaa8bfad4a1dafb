"""Rows of measurements → a table as templates want it: every cell a text, decimals equal down a column of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.model.kernel import Status
from sitegen.model.record import Performance, Role, Sustained
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.rows import Group, Row
from sitegen.render.measurements.provenance import Provenance
from sitegen.render.shared import numbers

DEFAULT_COLUMNS = ("time", "bandwidth", "of-ceiling")
BAR = ("of-ceiling", "of-copy", "of-read")
"""Columns that are followed by their bar."""
_TIMES = ("time", "burst", "sustained")
SHORT_SHARE = 0.01
"""An empty kernel is mentioned when it takes more than this share of the fastest implementation's time."""
_MOST_RATIOS = 3


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    bar: bool = False
    """The narrow column of bars, which has no name."""
    class_: str = ""
    """`l` for a column of words, `t` for one of sentences."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, state and cells; `reason` stands in place of the cells when there is nothing to show."""

    id: str
    name: str
    state: str
    """A class of the state grammar: `ours`, `base`, `stale`, `failed`, `planned`, or empty for the ceiling."""
    class_: str
    cells: tuple[str | Markup, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A workload × dtype."""

    name: str = ""
    """Empty: no head."""
    facts: str = ""
    stale: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    id: str
    caption: str
    label: str
    """`Table 1.`"""
    headings: tuple[Heading, ...]
    bodies: tuple[Body, ...]
    provenance: tuple[Provenance, ...]
    """One of each run that made a row, newest first."""
    wide: bool = True
    first: str = "implementation"
    """What the first column holds."""

    @property
    def width(self) -> int:
        return len(self.headings) + 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a listing: what it says of a row; empty where there is nothing to say."""

    title: str
    text: Callable[[Group, Row], str]
    left: bool = False


def listing(
    id: str,
    caption: str,
    shown: Iterable[tuple[Body, Group, Sequence[Row]]],
    columns: Sequence[Column],
    provenance: tuple[Provenance, ...] = (),
) -> Table:
    """Facts about rows as plain texts, under the heads of the bodies; columns that say nothing are left out."""
    parts = list(shown)
    said = [c for c in columns if any(c.text(group, row) for _, group, rows in parts for row in rows)]

    def line(n: int, group: Group, row: Row) -> Line:
        cells = tuple(column.text(group, row) for column in said)
        return Line(f"{id}-{n}-{part_of_id(row.name)}", row.name, _state(row), "", cells)

    bodies = tuple(
        replace(head, lines=tuple(line(n, group, row) for row in rows)) for n, (head, group, rows) in enumerate(parts)
    )
    headings_ = tuple(Heading(column.title, class_="l" if column.left else "") for column in said)
    return Table(id, caption, "", headings_, bodies, provenance, wide=False)


def columns_for(groups: Sequence[Group], baselines: Sequence[str], wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """As the author asked, else time, rate, share of the ceiling and the ratio to the first baselines: as many as stand
    beside each other on a page.
    """
    if wanted:
        return tuple(wanted)
    rate = "bandwidth" if all(group.bound_by_memory for group in groups) else "operations"
    held = any(row.performance and row.performance.sustained for group in groups for row in group.rows)
    times = ("burst", "spread", "sustained") if held else ("time", "spread")
    return (*times, rate, "of-ceiling", *(f"vs: {name}" for name in baselines[: _MOST_RATIOS - held]))


def headings(columns: Sequence[str]) -> tuple[Heading, ...]:
    headings: list[Heading] = []
    for column in columns:
        headings.append(Heading(_title(column)))
        if column in BAR:
            headings.append(Heading("", bar=True))
    return tuple(headings)


def _title(column: str) -> str:
    titles = {
        "time": f"time,{numbers.NBSP}µs",
        "burst": f"burst,{numbers.NBSP}µs",
        "sustained": f"sustained,{numbers.NBSP}µs",
        "spread": "p20–\u2060p80",
        "bandwidth": "TB/s",
        "operations": "TFLOP/s",
        "of-ceiling": f"of ceiling,{numbers.NBSP}%",
        "of-copy": f"of copy,{numbers.NBSP}%",
        "of-read": f"of read,{numbers.NBSP}%",
        "error": "error",
    }
    return titles.get(column) or f"×{numbers.NBSP}{column.removeprefix('vs:').strip()}"


def body(group: Group, columns: Sequence[str], prefix: str) -> Body:
    """`prefix` makes the ids of the rows unique on the page."""
    shown = [_values(group.rows, column) for column in columns]
    common = _common_notes(group)
    lines = (_line(row, columns, [column[n] for column in shown], prefix) for n, row in enumerate(group.rows))
    kept = (replace(line, notes=tuple(note for note in line.notes if note not in common)) for line in lines)
    return replace(head(group), stale=_common_reason(group), lines=tuple(kept))


def head(group: Group) -> Body:
    """`8192 × 8192 float32, 537 MB, noise 0.11 %`, without lines."""
    params = "".join(f", {name} {value}" for name, value in sorted(group.params.items()))
    facts = [f"{group.dtype}{params}", numbers.size(group.cost.bytes)]
    if group.noise is not None:
        facts.append(f"noise {numbers.percent(group.noise, 2)}")
    if empty_us := _empty_kernel_us(group):
        facts.append(f"an empty kernel takes {numbers.with_unit(numbers.fixed(empty_us, 1), 'µs')} here")
    return Body(numbers.shape(group.workload.name), ", ".join([*facts, *sorted(_common_notes(group))]))


def _empty_kernel_us(group: Group) -> float:
    """Return the time of an empty kernel where calls are so short that it counts; 0 elsewhere."""
    timed = [row.performance for row in group.rows if row.performance and row.ours]
    fastest_us = min((p.median_us for p in timed), default=0.0)
    empty_us = max((p.empty_kernel_us or 0.0 for p in timed), default=0.0)
    return empty_us if empty_us > SHORT_SHARE * fastest_us else 0.0


def _common_notes(group: Group) -> frozenset[str]:
    """What is true of every time of the group is said in its head."""
    notes = [frozenset(_notes(row)) for row in group.rows if row.performance]
    return frozenset.intersection(*notes) if len(notes) > 1 else frozenset()


def _common_reason(group: Group) -> str:
    """Said once in the head of the group when all of ours are stale for one reason."""
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
        if column in BAR:
            cells.append(_bar(row, column))
    class_ = "ceil" if row.role is Role.PROBE else "own" if row.best else ""
    return Line(id_, name, _state(row), class_, tuple(cells), notes=_notes(row))


def part_of_id(name: str) -> str:
    """A part of an id."""
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
    """The message of a compiler or a checker with single spaces; NVRTC ends its log with a NUL, which HTML forbids."""
    return " ".join(message.replace("\0", " ").split())


def why_no_time(row: Row) -> str:
    """`incorrect: …`; a failure has its message, the others a word."""
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


_Value = Callable[[Row], float | None]


def _values(rows: Sequence[Row], column: str) -> list[str]:
    """The column's texts, with equal decimals; empty where a row has no such figure."""
    if column == "spread":
        return _spreads(rows)
    if column == "error":
        return [_error(row) for row in rows]
    value, digits, least = _reader(column)
    values = [value(row) if row.performance else None for row in rows]
    decimals = _decimals([v for v in values if v], column, digits, least)
    return ["" if v is None else numbers.fixed(v, decimals) for v in values]


def _decimals(values: list[float], column: str, digits: int, least: int) -> int:
    """Times have four digits in the slowest, and never less than two in the fastest."""
    if column.startswith(("of-", "vs")):
        return least
    if column in _TIMES and values:
        return max(numbers.decimals_for([max(values)], 4), numbers.decimals_for([min(values)], 2))
    return numbers.decimals_for(values, digits, least)


def _reader(column: str) -> tuple[_Value, int, int]:
    """How a column reads a row, its significant digits and least decimals."""
    if column in ("time", "burst"):
        return (lambda row: row.performance.median_us if row.performance else None), 3, 1
    if column == "sustained":
        return _sustained_us, 3, 1
    if column == "bandwidth":
        return (lambda row: row.bytes_per_s / 1e12), 3, 2
    if column == "operations":
        return (lambda row: row.flops_per_s / 1e12), 3, 1
    if column in BAR:
        return (lambda row: _percent(row.share(column))), 3, 1
    baseline = column.removeprefix("vs:").strip()
    return (lambda row: _ratio(row, baseline)), 3, 2


def _sustained_us(row: Row) -> float | None:
    return row.performance.sustained.median_us if row.performance and row.performance.sustained else None


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _ratio(row: Row, baseline: str) -> float | None:
    """Nobody asks how often faster a copy is."""
    if row.role is Role.PROBE:
        return None
    return 1.0 if row.name == baseline else row.ratio(baseline)


def _spreads(rows: Sequence[Row]) -> list[str]:
    """Half of p20 to p80, as ±."""
    halves = [(p.p80_us - p.p20_us) / 2 if (p := row.performance) else None for row in rows]
    decimals = numbers.decimals_for([h for h in halves if h], 1, 1, 2)
    return ["" if half is None else f"±{numbers.fixed(half, decimals)}" for half in halves]


def _error(row: Row) -> str:
    correctness = row.evaluation.correctness if row.evaluation else None
    return numbers.error(correctness.relative_error) if correctness else ""
