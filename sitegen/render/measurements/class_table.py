"""Turn the instruction counts of a kernel's implementations into tables that compare any two: a row for each class, a
column for each implementation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sitegen.render.inputs.rows import Group, headlines
from sitegen.render.measurements import tables
from sitegen.render.measurements.instruction_classes import ClassKind, ClassRow, compared_classes
from sitegen.render.measurements.step_effects import counts
from sitegen.render.shared import numbers

CAPTION = (
    "SASS instructions by class at {where}, counted in the program text: an instruction in a loop counts once. "
    "A memory access has its width in bits; an IMAD that only moves, adds or shifts is not counted. "
    "Bold differs from the column before."
)


def class_tables(shown: Sequence[Group], id: str) -> tuple[tables.Table, ...]:
    """Return the table of each dtype at its headline workload; a dtype with fewer than two known programs has none."""
    return tuple(table for group in headlines(shown) for table in _table(group, f"{id}-{group.dtype}"))


def _table(group: Group, id: str) -> Iterator[tables.Table]:
    known = [row for row in group.rows if row.ours and counts(row)]
    if len(known) < 2:
        return
    caption = CAPTION.format(where=f"{numbers.shape(group.workload.name)} in {group.dtype}")
    heads = tuple(tables.Heading(row.name) for row in known)
    bodies = tuple(_body(kind) for kind in compared_classes([counts(row) for row in known]))
    yield tables.Table(id, caption, "", heads, bodies, (), wide=False, first="class")


def _body(kind: ClassKind) -> tables.Body:
    return tables.Body(
        kind.name, lines=tuple(tables.Line("", row.name, "", "", tuple(_cells(row))) for row in kind.rows)
    )


def _cells(row: ClassRow) -> Iterator[str | Markup]:
    before = row.counts[0]
    for count in row.counts:
        yield str(count) if count == before else Markup("<b>{}</b>").format(count)
        before = count
