"""Samples in rounds → medians, quantiles, and 95 % intervals by bootstrap over rounds; standard library only.

`generations` holds the rounds of each generation of processes, and a round holds the samples of one turn, in
microseconds.  The value is the mean over generations of the median of their round medians, so every generation counts
alike, however many rounds it has.

Rounds repeat independently within a generation, because clock, temperature and neighbours change between them.  The
bootstrap therefore draws rounds with replacement, in each generation by itself.  A drawn round keeps all its samples:
drawing samples again would count the noise within rounds twice, since it is already in the scatter of the round
medians. No sample is ever deleted.

The interval covers the figure of *these* processes 94 to 96 % of the time with three generations of four or six rounds,
and up to 97 % with more rounds or generations.  Generations have an even number of rounds, because medians of few
values of an odd number are covered less evenly.  The interval does not tell how much processes differ: it covers the
figure over all processes less often, which is why the figure of each generation is stored beside it.
tests/measure/test_statistics.py checks both.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

Rounds = Sequence[Sequence[float]]
Generations = Sequence[Rounds]

DRAWS = 1000
TAIL = 0.027
"""Share of the draws that is left out on each side.  Medians of redrawn rounds scatter 10 % more than medians of new
rounds, so 2.5 % would cover 96 to 97 %.  With this value, simulated jobs of three generations of four or six rounds are
covered in 95 to 96 % of the cases."""

FEW, STUDENT_T = 5, 2.776
"""Number of values of `mean_interval`; quantile 0.975 of Student's t with one degree of freedom less."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval, relative to the value."""
        return (self.high - self.low) / 2 / self.value


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values lies, interpolated linearly between two neighbours."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def round_medians(rounds: Rounds) -> list[float]:
    """Return the median of the samples of each round."""
    return [median(samples) for samples in rounds]


def round_ratios(baseline: Rounds, rounds: Rounds) -> list[float]:
    """Return t_baseline / t of each round.

    Round n of both is the same round of the job, so what they share (clock, temperature) cancels.  Raises ValueError
    unless both have the same number of rounds.
    """
    return [b / t for b, t in zip(round_medians(baseline), round_medians(rounds), strict=True)]


def median_interval(generations: Generations, draws: int = DRAWS) -> Interval:
    """Return the time of a call and its 95 % interval."""
    return bootstrap_interval([round_medians(rounds) for rounds in generations], draws)


def ratio_interval(baseline: Generations, generations: Generations, draws: int = DRAWS) -> Interval:
    """Return t_baseline / t and its 95 % interval.  Raises ValueError unless generations and rounds pair up."""
    return bootstrap_interval([round_ratios(b, t) for b, t in zip(baseline, generations, strict=True)], draws)


def ratio_of(baseline: Generations, generations: Generations) -> float:
    """Return t_baseline / t without an interval.  Raises ValueError unless generations and rounds pair up."""
    return _value([round_ratios(b, t) for b, t in zip(baseline, generations, strict=True)])


def bootstrap_interval(generations: Sequence[Sequence[float]], draws: int = DRAWS) -> Interval:
    """Return the value and interval of one value per round.  The seed is fixed: the same values, the same interval."""
    rng = random.Random(0)
    drawn = [_value([rng.choices(values, k=len(values)) for values in generations]) for _ in range(draws)]
    return Interval(_value(generations), quantile(drawn, TAIL), quantile(drawn, 1 - TAIL))


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of FEW independent values and its 95 % interval by Student's t.

    A bootstrap of so few values would cover too little.  Raises ValueError for another number of values.
    """
    if len(values) != FEW:
        raise ValueError(f"the interval of a mean needs {FEW} values, not {len(values)}")
    mean, half = fmean(values), STUDENT_T * stdev(values) / math.sqrt(FEW)
    return Interval(mean, mean - half, mean + half)


def _value(generations: Sequence[Sequence[float]]) -> float:
    return fmean(median(values) for values in generations)
