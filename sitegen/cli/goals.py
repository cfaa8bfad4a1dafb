"""Results of goals by GPU → the table of `status --goals`, or the same as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sitegen.results.figures import GoalResult

Results = Mapping[str, Sequence[GoalResult]]
_HEAD = ("kernel", "GPU", "goal", "best", "value", "result")


def goal_lines(results: Results) -> Iterator[str]:
    """Yield a head and a line for each goal, in columns of equal width."""
    rows = [_HEAD, *(_cells(gpu, one) for gpu, several in results.items() for one in several)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def goal_rows(results: Results) -> list[dict[str, Any]]:
    """Return an object for each goal; `value` and `missed_by` are numbers, or null where there is none."""
    return [
        {
            "kernel": one.kernel,
            "gpu": gpu,
            "goal": one.goal.text,
            "best": one.name,
            "value": one.value,
            "state": one.state,
            "missed_by": one.missed_by,
        }
        for gpu, several in results.items()
        for one in several
    ]


def _cells(gpu: str, one: GoalResult) -> tuple[str, ...]:
    value = "" if one.value is None else f"{one.value:.3f}"
    missed = "" if one.missed_by is None else f" by {one.missed_by:.1%}"
    return one.kernel, gpu, one.goal.text, one.name, value, f"{one.state}{missed}"
