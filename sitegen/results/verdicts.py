"""Judge the figures of one evaluation before and after: faster, same, slower or ambiguous, and why.

A difference counts when all of these hold: all figures changed in the same direction; their intervals are disjoint;
the change is larger than 1 % and than four times the noise of two runs of the same code; and each process that timed
the newer record measured it.  With more than two processes each pair of successive ones must have measured it, since
among many processes one or another is far off by chance.  All rules are symmetric: what is faster from A to B is
slower from B to A.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean

LEAST_CHANGE = 0.01
BETWEEN_GPUS = 0.02
"""Largest difference of of-ceiling between two GPUs of one model, which a record does not tell apart."""
OF_CEILING = "of-ceiling"
IN_CYCLES = " in cycles"


class Verdict(StrEnum):
    FASTER = "faster"
    SAME = "same"
    SLOWER = "slower"
    AMBIGUOUS = "ambiguous"
    """The figures or the processes disagree, or intervals overlap: measure again."""
    FAILED = "failed"
    """It passed before and fails now."""
    REPAIRED = "repaired"
    """It failed before and passes now."""
    NEW = "new"
    GONE = "gone"
    UNTIMED = "untimed"
    """It has no time in either record."""


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure before and after, with 95 % intervals; larger is faster."""

    name: str
    """`torch / t`, `torch / t in cycles`, `of-ceiling`."""
    before: tuple[float, float, float]
    """Value, low and high end."""
    after: tuple[float, float, float]
    before_by_process: tuple[float, ...] = ()
    """Value in each generation of processes; empty when there was only one."""
    after_by_process: tuple[float, ...] = ()

    @property
    def change(self) -> float:
        """Relative change."""
        return self.after[0] / self.before[0] - 1

    @property
    def disjoint(self) -> bool:
        """True when the intervals do not overlap."""
        return self.after[1] > self.before[2] or self.after[2] < self.before[1]

    @property
    def processes(self) -> tuple[int, int]:
        """Number of generations of processes before and after, at least 1."""
        return max(1, len(self.before_by_process)), max(1, len(self.after_by_process))

    def beyond(self, threshold: float) -> bool:
        """Tell whether the larger value is above the smaller one by more than this share of it."""
        return _above(self.after[0], self.before[0], threshold) or _above(self.before[0], self.after[0], threshold)

    def within(self, threshold: float) -> bool:
        """Tell whether two runs of the same code may differ so much."""
        return not self.beyond(max(threshold, BETWEEN_GPUS) if self.name == OF_CEILING else threshold)

    def confirmed(self, threshold: float) -> bool:
        """Tell whether each witness of the newer record differs from each of the older one by half the threshold."""
        earlier, later = witnesses(self.before_by_process) or self.before[:1], witnesses(self.after_by_process)
        grew = self.change > 0
        pairs = [(b, a) if grew else (a, b) for b in earlier for a in later]
        return len(later) > 1 and all(_above(high, low, threshold / 2) for low, high in pairs)


def witnesses(by_process: Sequence[float]) -> tuple[float, ...]:
    """Return the value in each generation, when there are at most two, else the mean of each two successive ones."""
    if len(by_process) <= 2:
        return tuple(by_process)
    return tuple(fmean(two) for two in pairwise(by_process))


def verdict(measures: Sequence[FigureChange], threshold: float = LEAST_CHANGE) -> Verdict:
    """Return the verdict on figures before and after; it is ambiguous when there is nothing to compare."""
    if all_moved(measures, threshold) and all(m.confirmed(threshold) for m in measures):
        return Verdict.FASTER if measures[0].change > 0 else Verdict.SLOWER
    if measures and all(m.within(threshold) for m in measures):
        return Verdict.SAME
    return Verdict.AMBIGUOUS


def threshold_of(noise: float) -> float:
    """Return the least relative change that counts."""
    return max(LEAST_CHANGE, 4 * noise)


def all_moved(measures: Sequence[FigureChange], threshold: float) -> bool:
    """Tell whether all figures changed in one direction, by more than the threshold and with disjoint intervals.

    `confirmed` tells whether each process measured it.
    """
    one_way = len({m.change > 0 for m in measures}) == 1
    return one_way and all(m.beyond(threshold) and m.disjoint for m in measures)


def reason_of(decided: Verdict, measures: Sequence[FigureChange], noise: float, causes: Iterable[str] = ()) -> str:
    """Return the reason of a verdict in words; `causes` say why figures disagree, where that is known."""
    threshold = threshold_of(noise)
    why = f" (4 × the noise of {noise:.2%})" if threshold > LEAST_CHANGE else ""
    limit = f"the threshold of {threshold:.1%}{why}"
    if decided is Verdict.SAME:
        return _reason_of_same(measures, threshold, limit)
    if decided is not Verdict.AMBIGUOUS:
        return f"{_changes(measures)}: beyond {limit}, 95 % intervals disjoint, {_witness_phrase(measures)} saw it"
    if all_moved(measures, threshold):
        return f"{_changes(measures)}: beyond {limit}, 95 % intervals disjoint, but {_unconfirmed(measures)}: run again"
    return f"{_disagreement(measures, threshold, limit)}: {'; '.join(causes) or 'measure again'}"


def _reason_of_same(measures: Sequence[FigureChange], threshold: float, limit: str) -> str:
    near = [m for m in measures if not m.beyond(threshold)]
    far = [m for m in measures if m not in near]
    reasons = [f"{_changes(near)}: within {limit}"] if near else []
    if far:
        reasons.append(f"{_changes(far)}: no more than two GPUs of one model differ by ({BETWEEN_GPUS:.0%})")
    return "; ".join(reasons)


def _unconfirmed(measures: Sequence[FigureChange]) -> str:
    """Return `only one process saw it`, or the value in each process: `torch / t 1.90, 1.92 → 1.87, 1.91`."""
    if min(m.processes[1] for m in measures) < 2:
        return "only one process saw it"
    seen = [(m.before_by_process or m.before[:1], m.after_by_process, m.name) for m in measures]
    texts = [f"{name} {_list(old)} → {_list(new)}" for old, new, name in seen]
    return f"not {_witness_phrase(measures)} did ({'; '.join(texts)})"


def _witness_phrase(measures: Iterable[FigureChange]) -> str:
    return "each pair of processes" if max(m.processes[1] for m in measures) > 2 else "each process"


def _disagreement(measures: Sequence[FigureChange], threshold: float, limit: str) -> str:
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


def _changes(measures: Iterable[FigureChange]) -> str:
    return " and ".join(f"{m.name} {m.change:+z.1%}" for m in measures)


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _above(high: float, low: float, share: float) -> bool:
    return high > low * (1 + share)
