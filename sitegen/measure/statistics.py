"""Samples in rounds → medians, quantiles, and 95 % intervals by bootstrap over rounds; standard library only.

`generations` are the rounds of each generation of processes; a round is the samples of one turn in microseconds.
The value is the mean over generations of the median of their rounds: every generation counts alike, however many
rounds it has.  Rounds are what repeats independently within a generation (clock, temperature and neighbours change
between them), so the bootstrap draws rounds with replacement, in each generation by itself.  The samples of a drawn
round are taken all, without replacement: drawing them again would count the noise within rounds twice, since it is
already in the scatter of their medians.  No sample is ever deleted.

The interval covers the figure of *these* processes 94 to 96 % of the time when there are three generations of four
rounds or six (medians of few odd ones would be covered another time), and up to 97 % with more rounds or generations.
It says nothing of how much processes differ: the figure over all processes is covered less often, which is why each
generation's own figure is stored beside it.
tests/measure/test_statistics.py holds both.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

Rounds = Sequence[Sequence[float]]
Generations = Sequence[Rounds]

DRAWS = 1000
TAIL = 0.027
"""Left out on each side.  Medians of redrawn rounds are a tenth further apart than medians of new rounds, so 2.5 %
would cover 96 to 97 %; simulated races of three generations of four or six rounds are covered 95 to 96 % here."""


@dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Relative to the value."""
        return (self.high - self.low) / 2 / self.value


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the two neighbours, as most statistics packages do by default."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def round_medians(rounds: Rounds) -> list[float]:
    return [median(samples) for samples in rounds]


def round_ratios(baseline: Rounds, rounds: Rounds) -> list[float]:
    """t_baseline / t of each round.  Round n of both is the same round of the job, so that what they share (clock,
    temperature) cancels.  Raises ValueError unless they are as many."""
    return [b / t for b, t in zip(round_medians(baseline), round_medians(rounds), strict=True)]


def median_interval(generations: Generations, draws: int = DRAWS) -> Interval:
    """The time of a call and its 95 % interval."""
    return bootstrapped([round_medians(rounds) for rounds in generations], draws)


def ratio_interval(baseline: Generations, generations: Generations, draws: int = DRAWS) -> Interval:
    """t_baseline / t and its 95 % interval."""
    return bootstrapped([round_ratios(b, t) for b, t in zip(baseline, generations, strict=True)], draws)


def ratio_of(baseline: Generations, generations: Generations) -> float:
    """t_baseline / t alone."""
    return _value([round_ratios(b, t) for b, t in zip(baseline, generations, strict=True)])


def bootstrapped(generations: Sequence[Sequence[float]], draws: int = DRAWS) -> Interval:
    """Of one value per round; the seed is fixed, so the same values give the same interval."""
    rng = random.Random(0)
    drawn = [_value([rng.choices(values, k=len(values)) for values in generations]) for _ in range(draws)]
    return Interval(_value(generations), quantile(drawn, TAIL), quantile(drawn, 1 - TAIL))


def _value(generations: Sequence[Sequence[float]]) -> float:
    return fmean(median(values) for values in generations)
