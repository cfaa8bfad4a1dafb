"""Two records of a kernel on one model of GPU → a verdict and its reason for each evaluation, as text or for programs.

Compared are the ratio to the first common baseline and of-ceiling, since both travel between machines; microseconds do
not.  A difference counts when all of them moved the same way, their intervals are disjoint and the change is larger
than 1 % and than four times the noise of two runs of the same code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.site import Site
from sitegen.results.measures import figures
from sitegen.results.records import cell_name, evaluation_id

LEAST_CHANGE = 0.01
AA_NOISE = 0.0013
"""Standard deviation of the ratio between two processes with the same code, until each workload has its own."""
UNCHANGED_CODE = "SASS and launch record unchanged: the machine or the libraries moved, not the code"


class Verdict(StrEnum):
    FASTER = "faster"
    SAME = "same"
    SLOWER = "slower"
    AMBIGUOUS = "ambiguous"
    """The measures disagree, or their intervals overlap: measure again."""
    FAILED = "failed"
    """It passed before."""
    REPAIRED = "repaired"
    """It did not pass before."""
    NEW = "new"
    GONE = "gone"
    UNTIMED = "untimed"
    """Passed in neither."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure before and after, with 95 % intervals; larger is faster."""

    name: str
    """`torch / t`, `of-ceiling`."""
    before: tuple[float, float, float]
    """Value, low, high."""
    after: tuple[float, float, float]

    @property
    def change(self) -> float:
        return self.after[0] / self.before[0] - 1

    @property
    def disjoint(self) -> bool:
        return self.after[1] > self.before[2] or self.after[2] < self.before[1]


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    """`softmax/fused@8192x8192:float32`."""
    verdict: Verdict
    reason: str
    """In words: what moved by how much, beside the threshold and the intervals, or what else decided."""
    measures: tuple[Measure, ...] = ()


def compare_records(site: Site, before: Record, after: Record, noise: float = AA_NOISE) -> tuple[Row, ...]:
    """Our implementations, in the order of `after`; rows that only `before` has come last.  Raises ValueError when
    the records are of two kernels, or of one that the site does not have.
    """
    kernel = next((k for k in site.kernels if k.name == after.kernel), None)
    if kernel is None or before.kernel != after.kernel:
        raise ValueError(f"a record of {before.kernel} and one of {after.kernel} cannot be compared")
    old, new = ({evaluation_id(e): e for e in _ours(record)} for record in (before, after))
    return tuple(
        compare_evaluations(kernel, before, after, old.get(one), new.get(one), noise) for one in {**new, **old}
    )


def compare_evaluations(
    kernel: Kernel,
    before: Record,
    after: Record,
    old: Evaluation | None,
    new: Evaluation | None,
    noise: float = AA_NOISE,
) -> Row:
    """One evaluation as each record has it; at least one of them does."""
    one = new or old
    assert one is not None
    title = f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)}"
    if old is None:
        return Row(title, Verdict.NEW, "only the second record has it")
    if new is None:
        return Row(title, Verdict.GONE, "only the first record has it")
    if old.performance is None or new.performance is None:
        return Row(title, _by_status(old, new), new.message.split("\n")[0] or f"{old.status} → {new.status}")
    measures = tuple(_measures(kernel, before, after, old, new))
    found = verdict(measures, noise)
    reasons = [_reason(found, measures, threshold_of(noise))]
    if found is not Verdict.SAME and _same_code(old, new):
        reasons.append(UNCHANGED_CODE)
    return Row(title, found, "; ".join(reasons), measures)


def verdict(measures: Sequence[Measure], noise: float = AA_NOISE) -> Verdict:
    """Of figures before and after; nothing to compare is ambiguous."""
    threshold = threshold_of(noise)
    if measures and all(abs(m.change) <= threshold for m in measures):
        return Verdict.SAME
    if measures and all(m.change > threshold and m.disjoint for m in measures):
        return Verdict.FASTER
    if measures and all(m.change < -threshold and m.disjoint for m in measures):
        return Verdict.SLOWER
    return Verdict.AMBIGUOUS


def threshold_of(noise: float) -> float:
    """The least relative change that counts."""
    return max(LEAST_CHANGE, 4 * noise)


def render_text(rows: Iterable[Row]) -> str:
    """A line for each evaluation, for each figure and for the reason."""
    lines = []
    for row in rows:
        lines.append(f"{row.verdict:<10}{row.title}")
        lines += [f"{'':<10}{line}" for line in (*map(_figures, row.measures), row.reason)]
    return "\n".join(lines) or "nothing to compare"


def render_markdown(rows: Iterable[Row]) -> str:
    """A table for a pull request."""
    head = ["| evaluation | verdict | before → after | why |", "|---|---|---|---|"]
    body = [
        f"| `{row.title}` | {row.verdict} | {'; '.join(map(_figures, row.measures))} | {_escaped(row.reason)} |"
        for row in rows
    ]
    return "\n".join([*head, *body]) if body else "Nothing to compare."


def render_json(rows: Iterable[Row]) -> str:
    """An object for each evaluation: `evaluation`, `verdict`, `reason`, `measures`."""
    return json.dumps([_plain(row) for row in rows], indent=1, ensure_ascii=False)


def _plain(row: Row) -> dict[str, Any]:
    measures = [
        {
            "name": m.name,
            "before": dict(zip(("value", "low", "high"), m.before, strict=True)),
            "after": dict(zip(("value", "low", "high"), m.after, strict=True)),
            "change": m.change,
            "disjoint": m.disjoint,
        }
        for m in row.measures
    ]
    return {"evaluation": row.title, "verdict": row.verdict, "reason": row.reason, "measures": measures}


def _figures(m: Measure) -> str:
    """`torch / t: 1.905 [1.903, 1.907] → 1.667 [1.665, 1.668] (-12.5%)`."""
    before, after = (f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in (m.before, m.after))
    return f"{m.name}: {before} → {after} ({m.change:+.1%})"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _ours(record: Record) -> list[Evaluation]:
    return [e for e in record.evaluations if e.role is Role.IMPLEMENTATION]


def _reason(found: Verdict, measures: Sequence[Measure], threshold: float) -> str:
    """Why figures came to that verdict."""
    limit = f"the threshold of {threshold:.1%}"
    if found is Verdict.SAME:
        return f"{_changes(measures)}: within {limit}"
    if found is not Verdict.AMBIGUOUS:
        return f"{_changes(measures)}: beyond {limit}, 95 % intervals disjoint"
    moved = [m for m in measures if abs(m.change) > threshold]
    still = [m for m in measures if m not in moved]
    overlapping = [m.name for m in moved if not m.disjoint]
    reasons = [f"{_changes(moved)} beyond {limit}"] if moved else ["no figure that both records have"]
    if still:
        reasons.append(f"{_changes(still)} within it")
    if len({m.change > 0 for m in moved}) > 1:
        reasons.append("they moved apart")
    if overlapping:
        reasons.append(f"95 % intervals of {' and '.join(overlapping)} overlap")
    return f"{', '.join(reasons)}: measure again"


def _changes(measures: Iterable[Measure]) -> str:
    return " and ".join(f"{m.name} {m.change:+.1%}" for m in measures)


def _by_status(old: Evaluation, new: Evaluation) -> Verdict:
    if old.performance is None and new.performance is None:
        return Verdict.UNTIMED
    return Verdict.FAILED if new.performance is None else Verdict.REPAIRED


def _measures(kernel: Kernel, before: Record, after: Record, old: Evaluation, new: Evaluation) -> list[Measure]:
    ratios = [
        {r.baseline: (r.value, r.low, r.high) for r in e.performance.ratios} if e.performance else {}
        for e in (old, new)
    ]
    common = [name for name in (*kernel.baselines, *ratios[0]) if name in ratios[0] and name in ratios[1]]
    found = [Measure(f"{name} / t", ratios[0][name], ratios[1][name]) for name in common[:1]]
    shares = _of_ceiling(kernel, before, old), _of_ceiling(kernel, after, new)
    if shares[0] and shares[1]:
        found.append(Measure("of-ceiling", shares[0], shares[1]))
    return found


def _of_ceiling(kernel: Kernel, record: Record, evaluation: Evaluation) -> tuple[float, float, float] | None:
    found, timed = figures(kernel, record, evaluation), evaluation.performance
    if found is None or timed is None or found.of_ceiling is None:
        return None
    floor = found.of_ceiling * timed.median_us
    return found.of_ceiling, floor / timed.high_us, floor / timed.low_us


def _same_code(old: Evaluation, new: Evaluation) -> bool:
    """Both records carry the machine code's hash and the launch, and they are equal: the code did not do it."""
    codes = [(e.compilation.sass_hash, e.launch) if e.compilation else ("", None) for e in (old, new)]
    return all(codes[0]) and codes[0] == codes[1]
