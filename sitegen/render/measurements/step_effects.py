"""Turn two steps of a ladder into what the second one changed: time, bytes, registers, occupancy, instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sitegen.render.inputs.rows import Group, Row
from sitegen.render.measurements.details import code_columns
from sitegen.render.measurements.instruction_classes import ClassKind, changed_classes
from sitegen.render.shared import numbers


@dataclass(frozen=True, slots=True)
class Effect:
    """A quantity in the step before and in this one, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a step against the step before, which is the implementation `against`."""

    against: str
    quantities: tuple[Effect, ...]
    """The quantities that differ and are known of both."""
    classes: tuple[ClassKind, ...]
    """The classes of instructions whose counts differ; empty when the counts of one step are not known."""

    @property
    def changed_classes(self) -> int:
        """The number of classes whose counts differ."""
        return sum(len(kind.rows) for kind in self.classes)


def effects(group: Group, before: Row, after: Row) -> Effects:
    """Return what changed from one row of a group to another; both have a time."""
    old, new = counts(before), counts(after)
    known = tuple(one for one in _quantities(group, before, after) if one.before and one.after)
    return Effects(
        against=before.name,
        quantities=tuple(one for one in known if one.before != one.after),
        classes=changed_classes(old, new) if old and new else (),
    )


def counts(row: Row) -> Mapping[str, int]:
    """Return the number of instructions of each class; empty when it is not known."""
    compiled = row.evaluation.compilation if row.evaluation else None
    return compiled.instructions if compiled else {}


def _quantities(group: Group, before: Row, after: Row) -> Iterator[Effect]:
    yield Effect("time", _time(before), _time(after))
    for column in code_columns():
        yield Effect(column.title, column.text(group, before), column.text(group, after))
    yield Effect("error", _error(before), _error(after))


def _time(row: Row) -> str:
    return numbers.microseconds(row.performance.median_us) if row.performance else ""


def _error(row: Row) -> str:
    checked = row.evaluation.correctness if row.evaluation else None
    return numbers.error(checked.relative_error) if checked else ""
