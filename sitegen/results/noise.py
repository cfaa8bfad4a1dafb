"""What the generations of processes saw of everything that was timed together → the noise of its ratios.

Every contestant is timed by two processes or more, one after the other (`Performance.by_process_us`,
`Ratio.by_process`).  By how much the ratio of two contestants differs among them is chance, since the code is the same.
With s the standard deviation of its logarithm as one process of each sees it, the figure of a run, which is the mean of
n, has the noise s / √n.

A workload has few contestants, and a standard deviation of three values is often twice too large or too small.  So it
is moderated (Smyth, "Linear models and empirical Bayes methods", 2004, does so with the variances of genes): averaged,
by degrees of freedom, with that of the record's other workloads whose calls take about as long, since noise falls with
duration and hardly depends on what else a workload is; what these lack in freedom is filled up with AA_NOISE.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, median_low, stdev

from sitegen.model.kernel import Scalar
from sitegen.model.record import Evaluation, Record, Role

AA_NOISE = 0.0013
"""Standard deviation of a run's ratio between two runs of the same code, as tried on an H200 with memory-bound kernels:
what is assumed where only one process timed.  Each of these runs was one of two processes."""
SIMILAR = 4.0
"""Workloads whose calls take at most so many times as long are moderated with each other."""
FREEDOM = 4
"""Degrees of freedom of what a workload's own noise is moderated with: as many as five contestants have."""
ENOUGH_PAIRS = 10
"""Of five contestants.  From then on the median of pairs stands for all: one contestant that runs at two speeds must
not hide the regressions of the others.  With fewer it is no safer, and worse known, than the mean of squares."""

Timing = tuple[str, str, tuple[tuple[str, Scalar], ...], str]
"""Workload, dtype, params and run: what was timed together, in the same rounds."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one timing shows."""

    us: float
    """The median of its contestants."""
    generations: int
    freedom: int
    """Contestants less one, since only what is between them is known, for each generation but one."""
    spreads: tuple[float, ...]
    """Of the ratio of every two contestants, s."""

    @property
    def central(self) -> list[float]:
        """The same, so that their median is s: that of χ² with k degrees is k (1 - 2 / 9k)³ (Wilson and Hilferty)."""
        k = self.generations - 1
        return [spread / (1 - 2 / (9 * k)) ** 1.5 for spread in self.spreads]


def noise_of(record: Record, evaluation: Evaluation) -> float:
    """Of the workload, dtype, params and run of an evaluation; AA_NOISE when one process timed it."""
    return noises(record).get(timing_of(evaluation), AA_NOISE)


def noises(record: Record) -> dict[Timing, float]:
    """The standard deviation of a whole run's ratio, relative, of everything that two generations or more timed."""
    together: dict[Timing, list[Evaluation]] = {}
    for evaluation in record.evaluations:
        if evaluation.performance and len(evaluation.performance.by_process_us) > 1:
            together.setdefault(timing_of(evaluation), []).append(evaluation)
    seen = {timing: _seen(found) for timing, found in together.items() if len(found) > 1}
    return {timing: _moderated(one, _others(timing, one, seen)) for timing, one in seen.items()}


def timing_of(evaluation: Evaluation) -> Timing:
    e = evaluation
    return (e.workload, e.dtype, tuple(sorted(e.params.items())), e.run)


def _others(timing: Timing, one: _Seen, seen: Mapping[Timing, _Seen]) -> list[_Seen]:
    """All other timings of similar duration."""
    return [
        other for name, other in seen.items() if name != timing and max(one.us / other.us, other.us / one.us) <= SIMILAR
    ]


def _moderated(one: _Seen, others: Sequence[_Seen]) -> float:
    known = min(FREEDOM, sum(other.freedom for other in others))
    squares = one.freedom * _variance([one]) + (FREEDOM - known) * 2 * AA_NOISE**2
    if others:
        squares += known * _variance(others)
    return math.sqrt(squares / (one.freedom + FREEDOM) / one.generations)


def _variance(several: Sequence[_Seen]) -> float:
    """As one process sees it."""
    spreads = [spread for seen in several for spread in seen.spreads]
    if len(spreads) < ENOUGH_PAIRS:
        return fmean(spread**2 for spread in spreads)
    return median_low([spread for seen in several for spread in seen.central]) ** 2


def _seen(together: Sequence[Evaluation]) -> _Seen:
    times = [e.performance.median_us for e in together if e.performance]
    logs = _logs(together)
    generations = min(map(len, logs))
    between = ([x - y for x, y in zip(one, two, strict=False)] for one, two in combinations(logs, 2))
    return _Seen(median(times), generations, (len(logs) - 1) * (generations - 1), tuple(map(stdev, between)))


def _logs(together: Sequence[Evaluation]) -> list[list[float]]:
    """By generation, ln of the ratio of each to a baseline that all have, else of its time; what they share (the clock,
    the baseline's own noise) is in all of them and cancels between two.
    """
    for baseline in [e.name for e in together if e.role is Role.BASELINE]:
        ratios = [_by_process(e, baseline) for e in together]
        if all(len(seen) > 1 for seen in ratios):
            return [list(map(math.log, seen)) for seen in ratios]
    return [list(map(math.log, e.performance.by_process_us)) for e in together if e.performance]


def _by_process(evaluation: Evaluation, baseline: str) -> tuple[float, ...]:
    """To itself, everything is 1."""
    performance = evaluation.performance
    if performance is None:
        return ()
    if evaluation.name == baseline:
        return (1.0,) * len(performance.by_process_us)
    return next((ratio.by_process for ratio in performance.ratios if ratio.baseline == baseline), ())
