"""Render comparisons as text for a terminal, a table for a pull request, or JSON for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sitegen.model.markdown_text import as_words, code_span
from sitegen.results.compare import EvaluationComparison
from sitegen.results.verdicts import FigureChange, Verdict

STILL = (Verdict.SAME, Verdict.UNTIMED)


def render_text(rows: Iterable[EvaluationComparison]) -> str:
    """Return a line for each evaluation, for each of its figures and for its reason."""
    lines = []
    for row in rows:
        lines.append(f"{row.verdict:<10}{row.title}")
        lines += [f"{'':<10}{line}" for line in (*map(_figures, row.measures), row.reason)]
    return "\n".join(lines) or "nothing to compare"


def render_lines(rows: Iterable[EvaluationComparison]) -> list[str]:
    """Return a line for each verdict and reason, with the evaluations that have both and without the figures."""
    alike: dict[tuple[Verdict, str], list[str]] = {}
    for row in rows:
        alike.setdefault((row.verdict, row.reason), []).append(row.title)
    return [f"{verdict:<10}{_named(titles)}: {reason}" for (verdict, reason), titles in alike.items()]


def _named(titles: list[str]) -> str:
    """Return up to three titles, or the first one and the number of the others."""
    return ", ".join(titles) if len(titles) <= 3 else f"{titles[0]} and {len(titles) - 1} others"


def render_markdown(rows: Iterable[EvaluationComparison]) -> str:
    """Return a comment for a pull request: counts of verdicts and a table of changes; the rest is folded below it."""
    listed = list(rows)
    if not listed:
        return "Nothing to compare."
    still = [row for row in listed if row.verdict in STILL]
    moved = [row for row in listed if row not in still]
    parts = [_counted(moved), _table(moved)] if moved else ["Nothing moved."]
    parts += [f"<details><summary>{_counted(still)}</summary>", _table(still), "</details>"] if still else []
    return "\n\n".join(parts)


def _counted(rows: Iterable[EvaluationComparison]) -> str:
    """Return the number of comparisons with each verdict: `1 slower, 3 ambiguous`."""
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])


def _table(rows: Iterable[EvaluationComparison]) -> str:
    head = ["| evaluation | verdict | before → after | why |", "|---|---|---|---|"]
    return "\n".join([*head, *map(_row, rows)])


def _row(row: EvaluationComparison) -> str:
    figures = "; ".join(map(_figures, row.measures))
    cells = (code_span(row.title), row.verdict, as_words(figures), as_words(row.reason))
    return f"| {' | '.join(map(_cell, cells))} |"


def render_json(rows: Iterable[EvaluationComparison]) -> str:
    """Return a JSON list with an object for each evaluation: `evaluation`, `verdict`, `reason`, `noise`, `threshold`,
    `confirmed`, `processes`, `changes`, `measures`.
    """
    return json.dumps([_as_object(row) for row in rows], indent=1, ensure_ascii=False)


def _as_object(row: EvaluationComparison) -> dict[str, Any]:
    return {
        "evaluation": row.title,
        "verdict": row.verdict,
        "reason": row.reason,
        "noise": row.noise,
        "threshold": row.threshold,
        "confirmed": row.confirmed,
        "processes": dict(zip(("before", "after"), row.processes, strict=True)),
        "changes": list(row.changes),
        "measures": [_figure_as_object(m) for m in row.measures],
    }


def _figure_as_object(m: FigureChange) -> dict[str, Any]:
    names = ("value", "low", "high")
    return {
        "name": m.name,
        "before": {**dict(zip(names, m.before, strict=True)), "by_process": list(m.before_by_process)},
        "after": {**dict(zip(names, m.after, strict=True)), "by_process": list(m.after_by_process)},
        "change": m.change,
        "disjoint": m.disjoint,
    }


def _figures(m: FigureChange) -> str:
    """Return a figure before and after: `torch / t: 1.905 [1.903, 1.907] → 1.667 [1.665, 1.668] (-12.5%)`."""
    before, after = (f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in (m.before, m.after))
    return f"{m.name}: {before} → {after} ({m.change:+z.1%})"


def _cell(markdown: str) -> str:
    return " ".join(markdown.splitlines()).replace("|", "\\|")
