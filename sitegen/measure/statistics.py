"""Samples in rounds → medians, quantiles, and 95 % intervals by bootstrap over rounds; standard library only.

`rounds` is a sequence of rounds, each the samples of one turn in microseconds.  Rounds are what repeats
independently (clock, temperature and neighbours change between them), so the bootstrap draws rounds with
replacement.  The samples of a drawn round are taken all, without replacement: drawing them again would count
the noise within rounds twice, since it is already in the scatter of their medians (intervals then cover 99 %;
tests/measure/test_statistics.py holds 95).  No sample is ever deleted.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Rounds = Sequence[Sequence[float]]

DRAWS = 1000


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


def median_interval(rounds: Rounds, draws: int = DRAWS) -> Interval:
    """The median of the round medians and its 95 % interval."""
    return _bootstrapped(round_medians(rounds), draws)


def ratio_interval(baseline: Rounds, rounds: Rounds, draws: int = DRAWS) -> Interval:
    """t_baseline / t: the median over rounds of the ratio of round medians, and its 95 % interval.

    Round n of both must be the same round of the job: what they share (clock, temperature) cancels.
    """
    pairs = zip(round_medians(baseline), round_medians(rounds), strict=True)
    return _bootstrapped([b / t for b, t in pairs], draws)


def _bootstrapped(values: list[float], draws: int) -> Interval:
    """The median of one value per round; the seed is fixed, so the same samples give the same interval."""
    rng, value, wider = random.Random(0), median(values), _widening(len(values))
    drawn = [median(rng.choices(values, k=len(values))) for _ in range(draws)]
    low, high = quantile(drawn, 0.025), quantile(drawn, 0.975)
    return Interval(value, value - wider * (value - low), value + wider * (high - value))


def _widening(rounds: int) -> float:
    """By how much percentiles of few values are too narrow: Student's t over the normal quantile, and n over n - 1.

    Hesterberg, "What Teachers Should Know About the Bootstrap", 2015: expanded percentiles.  t by its expansion.
    """
    if rounds < 2:
        return 1.0
    z, freedom = 1.959964, rounds - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return t / z * math.sqrt(rounds / freedom)
