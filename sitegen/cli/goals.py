"""Results of goals by GPU → the table of `status --goals`, or the same as values for JSON.

Beside the result stand the figures of the implementation that decides, and what the counters saw DRAM do in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sitegen.results.goals import DramUse, GoalResult

Results = Mapping[str, Sequence[GoalResult]]
_HEAD = ("kernel", "GPU", "goal", "best", "value", "result", "of-ceiling", "of-copy", "by the counters", "x baselines")
_AT_THE_LIMIT = 0.9
"""Share of the memory ceiling from which DRAM counts as the limit of a call."""


def goal_lines(results: Results) -> Iterator[str]:
    """Yield a head and a line for each goal, in columns of equal width."""
    rows = [_HEAD, *(_cells(gpu, one) for gpu, several in results.items() for one in several)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def goal_rows(results: Results) -> list[dict[str, Any]]:
    """Return an object for each goal; its figures are numbers, or null where there is none."""
    return [_row(gpu, one) for gpu, several in results.items() for one in several]


def _row(gpu: str, one: GoalResult) -> dict[str, Any]:
    figures, dram = one.figures, one.dram
    return {
        "kernel": one.kernel,
        "gpu": gpu,
        "goal": one.goal.text,
        "best": one.name,
        "value": one.value,
        "state": one.state,
        "missed_by": one.missed_by,
        "of_ceiling": figures.of_ceiling if figures else None,
        "of_copy": figures.of_copy if figures else None,
        "ratios": dict(figures.ratios) if figures else {},
        "dram_bytes_over_least": dram.reread if dram else None,
        "dram_of_ceiling": dram.of_ceiling if dram else None,
    }


def _cells(gpu: str, one: GoalResult) -> tuple[str, ...]:
    missed = "" if one.missed_by is None else f" by {one.missed_by:.1%}"
    figures = one.figures
    of_ceiling, of_copy = (figures.of_ceiling, figures.of_copy) if figures else (None, None)
    counted = "" if figures is None else _limit(one.dram)
    return (
        *(one.kernel, gpu, one.goal.text, one.name, _fixed(one.value), f"{one.state}{missed}"),
        *(_fixed(of_ceiling), _fixed(of_copy), counted, _baselines(one)),
    )


def _fixed(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _limit(dram: DramUse | None) -> str:
    """Return whether DRAM limits a call, with its bytes over the least ones and its share of the memory ceiling."""
    if dram is None:
        return "not counted"
    limits = "DRAM" if dram.of_ceiling >= _AT_THE_LIMIT else "not DRAM"
    return f"{limits}: {dram.reread:.2f}x the bytes at {dram.of_ceiling:.0%}"


def _baselines(one: GoalResult) -> str:
    """Return the ratios to the baselines; those to a copy and a read have columns of their own, or are no baselines."""
    ratios = one.figures.ratios if one.figures else {}
    return ", ".join(f"{value:.2f} {name}" for name, value in ratios.items() if name not in ("copy", "read"))
