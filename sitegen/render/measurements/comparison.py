"""Turn a kernel's records on several GPUs into one table: a row for each implementation, columns for each GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.rows import Group, Row, headlines
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import gpu_name, short_name
from sitegen.render.shared import numbers

Measured = Sequence[tuple[Record, tuple[Group, ...]]]
"""The records of a kernel, one for each GPU, with their groups."""
CAPTION = (
    "Each GPU is compared with its own ceiling and its own baseline. The ring on a bar is the prediction, its end mark "
    "the ceiling. A ratio is the baseline’s time over this one’s."
)


def comparison(kernel: Kernel, measured: Measured) -> tables.Table | None:
    """Return the share of the ceiling and the ratio to the first baseline on each GPU, at the first workload of each
    dtype that the first GPU timed; None where fewer than two GPUs measured the kernel.
    """
    if len(measured) < 2:
        return None
    baseline = next(iter(kernel.baselines), "")
    bodies = tuple(_body(n, group, measured, baseline) for n, group in enumerate(headlines(measured[0][1])))
    return tables.Table("gpus", CAPTION, "", tuple(_headings(measured, baseline)), bodies, (), wide=False)


def _headings(measured: Measured, baseline: str) -> Iterator[tables.Heading]:
    for record, _ in measured:
        yield tables.Heading(f"{short_name(gpu_name(record))}, % of ceiling")
        yield tables.Heading("", bar=True)
        if baseline:
            yield tables.Heading(f"× {baseline}")


def _body(n: int, group: Group, measured: Measured, baseline: str) -> tables.Body:
    same = [_same(group, shown) for _, shown in measured]
    lines = []
    for row in group.rows:
        if row.role is not Role.PROBE:
            cells = [cell for one in same for cell in _cells(_row(one, row), baseline)]
            line_id = f"gpus-{n}-{tables.part_of_id(row.name)}"
            lines.append(tables.Line(line_id, row.name, "ours" if row.ours else "base", "", tuple(cells)))
    return tables.Body(numbers.shape(group.workload.name), group.dtype, lines=tuple(lines))


def _same(group: Group, shown: Sequence[Group]) -> Group | None:
    """Return the group of another GPU at the same workload, dtype and params."""
    wanted = (group.workload.name, group.dtype, group.params)
    return next((one for one in shown if (one.workload.name, one.dtype, one.params) == wanted), None)


def _row(group: Group | None, wanted: Row) -> Row | None:
    rows = group.rows if group else ()
    return next((row for row in rows if (row.role, row.name) == (wanted.role, wanted.name)), None)


def _cells(row: Row | None, baseline: str) -> tuple[str | Markup, ...]:
    """Return the share, its bar and, for a kernel with baselines, the ratio."""
    if row is None or row.performance is None:
        status = row.evaluation.status.words if row and row.evaluation else "not measured"
        return (status, "", *([""] if baseline else []))
    share, mark = row.share("of-ceiling"), Mark.STALE if row.stale else Mark.OURS if row.ours else Mark.BASELINE
    drawn = bar(share, mark, row.predicted)
    ratio = 1.0 if (row.role, row.name) == (Role.BASELINE, baseline) else row.ratio(baseline)
    cells = (numbers.fixed(share * 100, 1) if share is not None else "", drawn)
    return (*cells, *([numbers.fixed(ratio, 2) if ratio is not None else ""] if baseline else []))
