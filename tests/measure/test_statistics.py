"""Medians of rounds and their intervals."""

from __future__ import annotations

import random
from math import exp

import pytest

from sitegen.measure.statistics import median_interval, quantile, ratio_interval, round_medians


def test_one_wild_sample_in_a_round_moves_nothing():
    quiet = [[100.0] * 20 for _ in range(11)]
    wild = [[100.0] * 19 + [9000.0], *quiet[1:]]
    assert median_interval(wild) == median_interval(quiet)


def test_one_slow_round_of_eleven_moves_the_median_of_neither_the_time_nor_the_ratio():
    rounds = [[100.0] * 20 for _ in range(10)] + [[150.0] * 20]
    baseline = [[200.0] * 20 for _ in range(10)] + [[300.0] * 20]
    assert median_interval(rounds).value == 100.0
    assert ratio_interval(baseline, rounds).value == 2.0


def test_what_both_share_in_a_round_cancels_in_the_ratio():
    clock = [1.0, 1.2, 0.9, 1.4, 1.1]
    baseline, rounds = ([[size * c] * 20 for c in clock] for size in (300.0, 100.0))
    found = ratio_interval(baseline, rounds)
    assert (found.value, found.low, found.high) == pytest.approx((3.0, 3.0, 3.0))


def test_rounds_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError):
        ratio_interval([[1.0], [2.0]], [[1.0]])


def test_the_same_samples_give_the_same_interval():
    rng = random.Random(3)
    rounds = [[rng.gauss(100, 1) for _ in range(20)] for _ in range(11)]
    assert median_interval(rounds) == median_interval(rounds)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.2, 1.8), (0.5, 3.0), (1.0, 5.0)])
def test_quantiles_lie_between_their_neighbours(share, value):
    assert quantile([5.0, 1.0, 4.0, 2.0, 3.0], share) == pytest.approx(value)


def test_medians_are_taken_round_by_round():
    assert round_medians([[1.0, 2.0, 30.0], [4.0]]) == [2.0, 4.0]


@pytest.mark.parametrize(
    ("between", "within", "count"),
    [(0.001, 0.001, 11), (0.001, 0.01, 11), (0.002, 0.0005, 25)],
    ids=["as seen on a GPU", "wild samples", "drift"],
)
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(between, within, count):
    """Relative noise from round to round and from sample to sample; 2000 races of a known ratio."""
    covered = sum(_covers(random.Random(seed), between, within, count) for seed in range(2000))
    assert 0.93 <= covered / 2000 <= 0.96


def _covers(rng: random.Random, between: float, within: float, count: int) -> bool:
    baseline, rounds = ([_round(rng, size, between, within) for _ in range(count)] for size in (100.0, 90.0))
    found = ratio_interval(baseline, rounds, draws=200)
    return found.low <= 100.0 / 90.0 <= found.high


def _round(rng: random.Random, size: float, between: float, within: float) -> list[float]:
    shift = exp(rng.gauss(0, between))
    return [size * shift * exp(rng.gauss(0, within)) for _ in range(20)]
