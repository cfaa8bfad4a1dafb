"""What the generations of processes saw of everything that was timed together → the noise of its ratios.

Every contestant is timed by two processes or more, one after the other (`Performance.by_process_us`,
`Ratio.by_process`).  By how much the ratio of two contestants differs between one and the next is chance, since the
code is the same.  With s the standard deviation of a ratio as one process of each sees it, ln(first / second) has the
variance 2 s², and the figure of a run of n, which rests on all, s² / n: of two, half of what is seen is the noise.

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
from statistics import fmean, median, median_low

from sitegen.model.kernel import Scalar
from sitegen.model.record import Evaluation, Record, Role

AA_NOISE = 0.0013
"""Standard deviation of a run's ratio between two runs of the same code, as tried on an H200 with memory-bound kernels:
what is assumed where only one process timed."""
SIMILAR = 4.0
"""Workloads whose calls take at most so many times as long are moderated with each other."""
FREEDOM = 4
"""Degrees of freedom of what a workload's own noise is moderated with: as many as five contestants have."""
ENOUGH_PAIRS = 10
"""Of five contestants.  From then on the median of pairs stands for all: one contestant that runs at two speeds must
not hide the regressions of the others.  With fewer it is no safer, and worse known, than the mean of squares."""
_OF_NORMAL = 0.6745
"""Median of |x| over the standard deviation of x, when x is normal."""

Timing = tuple[str, str, tuple[tuple[str, Scalar], ...], str]
"""Workload, dtype, params and run: what was timed together, in the same rounds."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one timing shows."""

    us: float
    """The median of its contestants."""
    generations: int
    freedom: int
    """Contestants less one, since only what is between them is known, for every two generations."""
    pairs: tuple[float, ...]
    """Of every two contestants and two generations, half of |ln| of what their ratio changed by."""


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
    """What is seen is of a run of two generations; the mean of more is quieter."""
    known = min(FREEDOM, sum(other.freedom for other in others))
    squares = one.freedom * _variance(one.pairs) + (FREEDOM - known) * AA_NOISE**2
    if others:
        squares += known * _variance([pair for other in others for pair in other.pairs])
    return math.sqrt(squares / (one.freedom + FREEDOM) * 2 / one.generations)


def _variance(pairs: Sequence[float]) -> float:
    if len(pairs) < ENOUGH_PAIRS:
        return fmean(pair**2 for pair in pairs)
    return (median_low(pairs) / _OF_NORMAL) ** 2


def _seen(together: Sequence[Evaluation]) -> _Seen:
    times = [e.performance.median_us for e in together if e.performance]
    drifts = list(zip(*_drifts(together), strict=False))
    pairs = tuple(abs(a - b) / 2 for two in drifts for a, b in combinations(two, 2))
    generations = min(len(e.performance.by_process_us) for e in together if e.performance)
    return _Seen(median(times), generations, (len(together) - 1) * len(drifts), pairs)


def _drifts(together: Sequence[Evaluation]) -> list[list[float]]:
    """ln(second / first) of every two generations, of the ratio of each to a baseline that all have, else of its time;
    what they share (the clock, the baseline's own noise) is in all of them and cancels between two.
    """
    for baseline in [e.name for e in together if e.role is Role.BASELINE]:
        ratios = [_by_process(e, baseline) for e in together]
        if all(len(seen) > 1 for seen in ratios):
            return [_logs(seen) for seen in ratios]
    return [_logs(e.performance.by_process_us) for e in together if e.performance]


def _by_process(evaluation: Evaluation, baseline: str) -> tuple[float, ...]:
    """To itself, everything is 1."""
    performance = evaluation.performance
    if performance is None:
        return ()
    if evaluation.name == baseline:
        return (1.0,) * len(performance.by_process_us)
    return next((ratio.by_process for ratio in performance.ratios if ratio.baseline == baseline), ())


def _logs(seen: Sequence[float]) -> list[float]:
    return [math.log(second / first) for first, second in zip(seen[::2], seen[1::2], strict=False)]
