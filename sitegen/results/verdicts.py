"""Figures of one evaluation before and after → faster, same, slower or ambiguous, and why, in words with numbers.

A difference counts when all figures moved the same way, their intervals are disjoint, the change is larger than 1 %
and than four times the noise of two runs of the same code, and each process that timed the newer record saw it; where
more than two did, each pair of them, since among many processes one or another is far off by chance.  All rules read
the same from both sides: what got faster from A to B got slower from B to A.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean

LEAST_CHANGE = 0.01
BETWEEN_GPUS = 0.02
"""By how much of-ceiling may differ between two GPUs of one model.  No record tells which of them it was."""
OF_CEILING = "of-ceiling"
IN_CYCLES = " in cycles"


class Verdict(StrEnum):
    FASTER = "faster"
    SAME = "same"
    SLOWER = "slower"
    AMBIGUOUS = "ambiguous"
    """The measures or the processes disagree, or intervals overlap: measure again."""
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
    """`torch / t`, `torch / t in cycles`, `of-ceiling`."""
    before: tuple[float, float, float]
    """Value, low, high."""
    after: tuple[float, float, float]
    before_by_process: tuple[float, ...] = ()
    """As each generation of processes alone saw it; empty when there was only one."""
    after_by_process: tuple[float, ...] = ()

    @property
    def change(self) -> float:
        return self.after[0] / self.before[0] - 1

    @property
    def disjoint(self) -> bool:
        return self.after[1] > self.before[2] or self.after[2] < self.before[1]

    @property
    def processes(self) -> tuple[int, int]:
        return max(1, len(self.before_by_process)), max(1, len(self.after_by_process))

    def beyond(self, threshold: float) -> bool:
        """Whether the larger is more than that share above the smaller."""
        return _above(self.after[0], self.before[0], threshold) or _above(self.before[0], self.after[0], threshold)

    def within(self, threshold: float) -> bool:
        """Whether two runs of the same code may differ so much."""
        return not self.beyond(max(threshold, BETWEEN_GPUS) if self.name == OF_CEILING else threshold)

    def confirmed(self, threshold: float) -> bool:
        """Whether each witness of the newer record, alone, is half the threshold away from each of the older one."""
        earlier, later = witnesses(self.before_by_process) or self.before[:1], witnesses(self.after_by_process)
        grew = self.change > 0
        pairs = [(b, a) if grew else (a, b) for b in earlier for a in later]
        return len(later) > 1 and all(_above(high, low, threshold / 2) for low, high in pairs)


def witnesses(by_process: Sequence[float]) -> tuple[float, ...]:
    """What each generation of processes saw, of two; of more, the means of every two that followed one another."""
    if len(by_process) <= 2:
        return tuple(by_process)
    return tuple(fmean(two) for two in pairwise(by_process))


def verdict(measures: Sequence[Measure], threshold: float = LEAST_CHANGE) -> Verdict:
    """Of figures before and after; nothing to compare is ambiguous."""
    if all_moved(measures, threshold) and all(m.confirmed(threshold) for m in measures):
        return Verdict.FASTER if measures[0].change > 0 else Verdict.SLOWER
    if measures and all(m.within(threshold) for m in measures):
        return Verdict.SAME
    return Verdict.AMBIGUOUS


def threshold_of(noise: float) -> float:
    """The least relative change that counts."""
    return max(LEAST_CHANGE, 4 * noise)


def all_moved(measures: Sequence[Measure], threshold: float) -> bool:
    """One way, by more than the threshold, with disjoint intervals; whether each process saw it is another question."""
    one_way = len({m.change > 0 for m in measures}) == 1
    return one_way and all(m.beyond(threshold) and m.disjoint for m in measures)


def reason_of(found: Verdict, measures: Sequence[Measure], noise: float, causes: Iterable[str] = ()) -> str:
    """Why figures came to that verdict; `causes` say why they disagree, where that is known."""
    threshold = threshold_of(noise)
    why = f" (4 × the noise of {noise:.2%})" if threshold > LEAST_CHANGE else ""
    limit = f"the threshold of {threshold:.1%}{why}"
    if found is Verdict.SAME:
        return _same(measures, threshold, limit)
    if found is not Verdict.AMBIGUOUS:
        return f"{_changes(measures)}: beyond {limit}, 95 % intervals disjoint, {_each(measures)} saw it"
    if all_moved(measures, threshold):
        return f"{_changes(measures)}: beyond {limit}, 95 % intervals disjoint, but {_unconfirmed(measures)}: run again"
    return f"{_disagreement(measures, threshold, limit)}: {'; '.join(causes) or 'measure again'}"


def _same(measures: Sequence[Measure], threshold: float, limit: str) -> str:
    near = [m for m in measures if not m.beyond(threshold)]
    far = [m for m in measures if m not in near]
    reasons = [f"{_changes(near)}: within {limit}"] if near else []
    if far:
        reasons.append(f"{_changes(far)}: no more than two GPUs of one model differ by ({BETWEEN_GPUS:.0%})")
    return "; ".join(reasons)


def _unconfirmed(measures: Sequence[Measure]) -> str:
    """`only one process saw it`, or what the processes saw: `torch / t 1.90, 1.92 → 1.87, 1.91`."""
    if min(m.processes[1] for m in measures) < 2:
        return "only one process saw it"
    seen = [(m.before_by_process or m.before[:1], m.after_by_process, m.name) for m in measures]
    texts = [f"{name} {_list(old)} → {_list(new)}" for old, new, name in seen]
    return f"not {_each(measures)} did ({'; '.join(texts)})"


def _each(measures: Iterable[Measure]) -> str:
    return "each pair of processes" if max(m.processes[1] for m in measures) > 2 else "each process"


def _disagreement(measures: Sequence[Measure], threshold: float, limit: str) -> str:
    moved = [m for m in measures if m.beyond(threshold)]
    still = [m for m in measures if m not in moved]
    overlapping = [m.name for m in moved if not m.disjoint]
    reasons = [f"{_changes(moved)} beyond {limit}"] if moved else ["no figure that both records have"]
    if still:
        reasons.append(f"{_changes(still)} within it")
    if len({m.change > 0 for m in moved}) > 1:
        reasons.append("they moved apart")
    if overlapping:
        reasons.append(f"95 % intervals of {' and '.join(overlapping)} overlap")
    return ", ".join(reasons)


def _changes(measures: Iterable[Measure]) -> str:
    return " and ".join(f"{m.name} {m.change:+z.1%}" for m in measures)


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _above(high: float, low: float, share: float) -> bool:
    return high > low * (1 + share)
