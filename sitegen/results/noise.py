"""Estimate the noise of ratios from the differences between generations of processes.

Every evaluation is timed by two processes or more, one after the other (`Performance.by_process_us`,
`Ratio.by_process`).  The ratio of two evaluations differs between generations only by chance, since the code is the
same.  Let s be the standard deviation of the logarithm of this ratio in one generation.  The figure of a run is the
mean over n generations and has the noise s / √n.

A workload has few evaluations, and a standard deviation of three values is often twice too large or too small.  So its
variance is moderated (Smyth, "Linear models and empirical Bayes methods", 2004, does so with the variances of genes):
it is averaged, by degrees of freedom, with the variance of the record's other workloads whose calls take about as
long, since noise falls with duration and hardly depends on anything else.  Where these have too few degrees of
freedom, AA_NOISE stands for the missing ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, median_low

from sitegen.model.kernel import Scalar
from sitegen.model.record import Evaluation, Record, Role

AA_NOISE = 0.0013
"""Standard deviation of a run's ratio between two runs of the same code, relative.

It was measured on an H200 with memory-bound kernels and runs of two processes each, and is assumed where only one
process timed.
"""
SIMILAR = 4.0
"""Largest factor between the durations of workloads that are moderated with each other."""
FREEDOM = 4
"""Degrees of freedom of the other workloads in the moderated variance: as many as five evaluations have."""
ENOUGH_PAIRS = 10
"""Least number of pairs, those of five evaluations, from which on the median of the pairs' spreads is taken.

The median keeps one evaluation that runs at two speeds from hiding the regressions of the others.  With fewer pairs
the median is no safer than the mean of squares, and less precise.
"""

TimingId = tuple[str, str, tuple[tuple[str, Scalar], ...], str]
"""Workload, dtype, params and run, which everything timed in the same rounds has in common."""


@dataclass(frozen=True, slots=True)
class _Spread:
    """Differences between generations in one timing."""

    us: float
    """Median time of the evaluations."""
    generations: int
    freedom: int
    """Degrees of freedom: evaluations less one, since only their ratios are known, times generations less one."""
    spreads: tuple[float, ...]
    """Standard deviation s of the logarithm of the ratio of every two evaluations."""

    @property
    def central(self) -> list[float]:
        """Spreads scaled so that their median estimates s: the median of χ² with k degrees of freedom is
        k (1 - 2 / 9k)³ (Wilson and Hilferty).
        """
        k = self.generations - 1
        return [spread / (1 - 2 / (9 * k)) ** 1.5 for spread in self.spreads]


def noise_of(record: Record, evaluation: Evaluation) -> float:
    """Return the noise of an evaluation's ratios; AA_NOISE when only one process timed it."""
    return noise_by_timing(record).get(timing_id(evaluation), AA_NOISE)


def noise_by_timing(record: Record) -> dict[TimingId, float]:
    """Return the relative standard deviation of a run's ratio for each timing of two generations or more."""
    together: dict[TimingId, list[Evaluation]] = {}
    for evaluation in record.evaluations:
        if evaluation.performance and len(evaluation.performance.by_process_us) > 1:
            together.setdefault(timing_id(evaluation), []).append(evaluation)
    seen = {timing: _spread_of(evaluations) for timing, evaluations in together.items() if len(evaluations) > 1}
    return {timing: _moderated(one, _similar_timings(timing, one, seen)) for timing, one in seen.items()}


def timing_id(evaluation: Evaluation) -> TimingId:
    """Return the id of the timing that an evaluation is a part of."""
    e = evaluation
    return (e.workload, e.dtype, tuple(sorted(e.params.items())), e.run)


def _similar_timings(timing: TimingId, one: _Spread, seen: Mapping[TimingId, _Spread]) -> list[_Spread]:
    """Return all other timings of similar duration."""
    return [
        other for name, other in seen.items() if name != timing and max(one.us / other.us, other.us / one.us) <= SIMILAR
    ]


def _moderated(one: _Spread, others: Sequence[_Spread]) -> float:
    known = min(FREEDOM, sum(other.freedom for other in others))
    squares = one.freedom * _variance([one]) + (FREEDOM - known) * 2 * AA_NOISE**2
    if others:
        squares += known * _variance(others)
    return math.sqrt(squares / (one.freedom + FREEDOM) / one.generations)


def _variance(several: Sequence[_Spread]) -> float:
    """Return the variance of a ratio's logarithm in one generation."""
    spreads = [spread for seen in several for spread in seen.spreads]
    if len(spreads) < ENOUGH_PAIRS:
        return fmean(spread**2 for spread in spreads)
    return median_low([spread for seen in several for spread in seen.central]) ** 2


def _spread_of(together: Sequence[Evaluation]) -> _Spread:
    times = [e.performance.median_us for e in together if e.performance]
    logs = _logs(together)
    generations = min(map(len, logs))
    between = ([x - y for x, y in zip(one, two, strict=False)] for one, two in combinations(logs, 2))
    return _Spread(median(times), generations, (len(logs) - 1) * (generations - 1), tuple(map(_deviation, between)))


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation.  `statistics.stdev` computes with fractions, and took 8 % of a whole check."""
    mean = fmean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _logs(together: Sequence[Evaluation]) -> list[list[float]]:
    """Return ln of each evaluation's ratio to a baseline that all have, else of its time, by generation.

    The clock and the baseline's own noise are in all of them and cancel in the difference of two.
    """
    for baseline in [e.name for e in together if e.role is Role.BASELINE]:
        ratios = [_by_process(e, baseline) for e in together]
        if all(len(seen) > 1 for seen in ratios):
            return [list(map(math.log, seen)) for seen in ratios]
    return [list(map(math.log, e.performance.by_process_us)) for e in together if e.performance]


def _by_process(evaluation: Evaluation, baseline: str) -> tuple[float, ...]:
    """Return the ratio to a baseline in each generation; the baseline's ratio to itself is 1."""
    performance = evaluation.performance
    if performance is None:
        return ()
    if evaluation.name == baseline:
        return (1.0,) * len(performance.by_process_us)
    return next((ratio.by_process for ratio in performance.ratios if ratio.baseline == baseline), ())
