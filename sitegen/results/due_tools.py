"""The records of a GPU → the evaluations for which the vendor's tools are due.

Counters explain a time, so the fastest implementation of each cell should have them.  A sanitizer finds faults, so it
should have watched each implementation in each dtype.  Many machines have no ncu, no sanitizer, or no right to read
counters, so neither is due on a GPU of which no record has any.  What is missing makes no evaluation stale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sitegen.model.kernel import Scalar
from sitegen.model.record import Evaluation, Record, Role

Cell = tuple[str, str, tuple[tuple[str, Scalar], ...]]
"""Workload, dtype and params."""


def can_count(records: Iterable[Record]) -> bool:
    """Tell whether some evaluation of a GPU has counters, so that a machine with this GPU can read them."""
    return any(one.counters for record in records for one in record.evaluations)


def can_watch(records: Iterable[Record]) -> bool:
    """Tell whether a sanitizer has watched some evaluation of a GPU."""
    return any(one.sanitizer for record in records for one in record.evaluations)


def unwatched(record: Record) -> tuple[Evaluation, ...]:
    """Return the first evaluation of each implementation and dtype that no sanitizer has watched."""
    timed = [one for one in record.evaluations if one.role is Role.IMPLEMENTATION and one.performance is not None]
    watched = {(one.name, one.dtype) for one in timed if one.sanitizer}
    first: dict[tuple[str, str], Evaluation] = {}
    for one in timed:
        first.setdefault((one.name, one.dtype), one)
    return tuple(one for key, one in first.items() if key not in watched)


def uncounted(record: Record) -> tuple[Evaluation, ...]:
    """Return the fastest implementation of each cell, where it has no counters and could have some.

    Where another call of the cell was counted in the same run or later, ncu has tried this one and failed.
    """
    counted: dict[Cell, str] = {}
    for one in record.evaluations:
        if one.counters:
            counted[_cell(one)] = max(counted.get(_cell(one), ""), one.counters.run or one.run)
    return tuple(one for one in _fastest(record) if not one.counters and counted.get(_cell(one), "") < one.run)


def _fastest(record: Record) -> Iterable[Evaluation]:
    by_cell: dict[Cell, Evaluation] = {}
    for one in record.evaluations:
        if one.role is Role.IMPLEMENTATION and one.performance is not None:
            by_cell[_cell(one)] = min(by_cell.get(_cell(one), one), one, key=_time)
    return by_cell.values()


def _cell(one: Evaluation) -> Cell:
    return one.workload, one.dtype, tuple(sorted(one.params.items()))


def _time(one: Evaluation) -> float:
    return one.performance.median_us if one.performance else math.inf
