"""Samples in rounds → medians, quantiles, and intervals by hierarchical bootstrap; standard library only.

`rounds` is a sequence of rounds, each the samples of one turn in microseconds.  Rounds are the unit that
repeats independently (clock, temperature and neighbours change between them), so the bootstrap draws
rounds with replacement first and samples within each drawn round second.  No sample is ever deleted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Rounds = Sequence[Sequence[float]]

DRAWS = 1000
POOL = 200
"""Bootstrapped medians kept per round, from which the draws pick."""


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


def median_interval(rounds: Rounds, seed: int = 0) -> Interval:
    """The median of the round medians and its 95 % interval."""
    rng = random.Random(seed)
    pools = [_median_pool(samples, rng) for samples in rounds]
    draws = [median(rng.choice(rng.choice(pools)) for _ in pools) for _ in range(DRAWS)]
    return _interval(median(round_medians(rounds)), draws)


def ratio_interval(baseline: Rounds, rounds: Rounds, seed: int = 0, draws: int = DRAWS) -> Interval:
    """t_baseline / t: the median over rounds of the ratio of round medians, and its 95 % interval.

    Round n of both must be the same round of the job: what they share (clock, temperature) cancels.
    """
    rng = random.Random(seed)
    pairs = [(_median_pool(b, rng), _median_pool(t, rng)) for b, t in zip(baseline, rounds, strict=True)]
    value = median(b / t for b, t in zip(round_medians(baseline), round_medians(rounds), strict=True))
    return _interval(value, [_drawn_ratio(pairs, rng) for _ in range(draws)])


def _drawn_ratio(pairs: list[tuple[list[float], list[float]]], rng: random.Random) -> float:
    drawn = (rng.choice(pairs) for _ in pairs)
    return median(rng.choice(b) / rng.choice(t) for b, t in drawn)


def _median_pool(samples: Sequence[float], rng: random.Random) -> list[float]:
    """Medians of resamples of one round."""
    return [median(rng.choices(samples, k=len(samples))) for _ in range(POOL)]


def _interval(value: float, draws: list[float]) -> Interval:
    return Interval(value, min(value, quantile(draws, 0.025)), max(value, quantile(draws, 0.975)))
