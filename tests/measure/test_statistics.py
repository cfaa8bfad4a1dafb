"""Medians of rounds and their intervals."""

from __future__ import annotations

import random
from math import exp
from statistics import fmean

import pytest

from sitegen.measure.rounds import GENERATION_ROUNDS, GENERATIONS
from sitegen.measure.statistics import mean_interval, median_interval, quantile, ratio_interval, round_medians

RACES, REDRAWN = 1250, 400
"""Number of races, which gives the share within 0.6 %; number of draws, whose smallness narrows an interval a little.
"""


def generations(*sizes: float, count: int = 6) -> list[list[list[float]]]:
    """Return rounds without noise, in which a generation has one time in microseconds."""
    return [[[size] * 20 for _ in range(count)] for size in sizes]


def test_one_wild_sample_in_a_round_moves_nothing():
    quiet, wild = generations(100.0, 100.0), generations(100.0, 100.0)
    wild[1][2][7] = 9000.0
    assert median_interval(wild) == median_interval(quiet)


def test_one_slow_round_moves_the_median_of_neither_the_time_nor_the_ratio():
    rounds, baseline = generations(100.0, 100.0), generations(200.0, 200.0)
    rounds[0][3], baseline[0][3] = [150.0] * 20, [240.0] * 20
    assert median_interval(rounds).value == 100.0
    assert ratio_interval(baseline, rounds).value == 2.0


def test_what_both_share_in_a_round_cancels_in_the_ratio():
    clock = [1.0, 1.2, 0.9, 1.4, 1.1, 1.3]
    baseline, rounds = ([[[size * c] * 20 for c in clock]] * 2 for size in (300.0, 100.0))
    found = ratio_interval(baseline, rounds)
    assert (found.value, found.low, found.high) == pytest.approx((3.0, 3.0, 3.0))


def test_a_generation_of_many_rounds_counts_no_more_than_one_of_few():
    few, many = generations(100.0), generations(104.0, count=30)
    assert median_interval([*few, *many]).value == 102.0


def test_rounds_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError):
        ratio_interval([[[1.0], [2.0]]], [[[1.0]]])
    with pytest.raises(ValueError):
        ratio_interval(generations(1.0, 1.0), generations(1.0))


def test_the_same_samples_give_the_same_interval():
    rng = random.Random(3)
    rounds = [[[rng.gauss(100, 1) for _ in range(20)] for _ in range(6)] for _ in range(2)]
    assert median_interval(rounds) == median_interval(rounds)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.2, 1.8), (0.5, 3.0), (1.0, 5.0)])
def test_quantiles_lie_between_their_neighbours(share, value):
    assert quantile([5.0, 1.0, 4.0, 2.0, 3.0], share) == pytest.approx(value)


def test_medians_are_taken_round_by_round():
    assert round_medians([[1.0, 2.0, 30.0], [4.0]]) == [2.0, 4.0]


@pytest.mark.parametrize(
    ("process", "between", "within", "rounds", "most"),
    [
        pytest.param(0.0025, 0.002, 0.001, GENERATION_ROUNDS, 0.965, id="as seen on a GPU"),
        pytest.param(0.0025, 0.0002, 0.01, GENERATION_ROUNDS, 0.965, id="wild samples", marks=pytest.mark.soak),
        pytest.param(0.005, 0.0015, 0.001, GENERATION_ROUNDS, 0.965, id="unlike processes", marks=pytest.mark.soak),
        pytest.param(0.0025, 0.004, 0.001, 10, 0.975, id="many rounds", marks=pytest.mark.soak),
    ],
)
def test_the_interval_covers_the_ratio_of_these_processes_as_often_as_it_says(process, between, within, rounds, most):
    """The races are like stored ones: a known ratio, four generations, shifts of each process, round and sample."""
    timings = [Known(random.Random(seed), process, between, within, rounds) for seed in range(RACES)]
    assert 0.93 <= fmean(timings.covers(timings.ratio_here) for timings in timings) <= most


@pytest.mark.parametrize(
    ("process", "least", "most"),
    [
        pytest.param(0.0025, 0.35, 0.5, id="as seen on a GPU"),
        pytest.param(0.0005, 0.86, 0.94, id="processes that are nearly alike", marks=pytest.mark.soak),
    ],
)
def test_the_interval_says_less_of_processes_that_were_not_run(process, least, most):
    """The interval covers the ratio over all processes less often; `by_process` is stored for comparing runs."""
    timings = [Known(random.Random(seed), process, 0.0015, 0.001, GENERATION_ROUNDS) for seed in range(RACES)]
    covered = fmean(timings.covers(100.0 / 90.0) for timings in timings)
    assert least <= covered <= most


class Known:
    """One timing of a baseline of 100 µs and of ours with 90 µs."""

    def __init__(self, rng: random.Random, process: float, between: float, within: float, rounds: int) -> None:
        shifts = [[exp(rng.gauss(0, process)) for _ in range(GENERATIONS)] for _ in range(2)]
        baseline, ours = (
            [[_round(rng, size * shift, between, within) for _ in range(rounds)] for shift in own]
            for size, own in zip((100.0, 90.0), shifts, strict=True)
        )
        self.found = ratio_interval(baseline, ours, draws=REDRAWN)
        self.ratio_here = 100.0 / 90.0 * fmean(b / t for b, t in zip(*shifts, strict=True))

    def covers(self, ratio: float) -> bool:
        return self.found.low <= ratio <= self.found.high


def _round(rng: random.Random, size: float, between: float, within: float) -> list[float]:
    shift = exp(rng.gauss(0, between))
    return [size * shift * exp(rng.gauss(0, within)) for _ in range(20)]


def test_the_interval_of_a_mean_of_five_covers_it_in_95_percent_of_the_cases():
    rng = random.Random(5)
    found = [mean_interval([rng.gauss(100.0, 1.0) for _ in range(5)]) for _ in range(4000)]
    covered = fmean(one.low <= 100.0 <= one.high for one in found)
    assert 0.94 <= covered <= 0.96


def test_the_interval_of_a_mean_is_refused_for_another_number_of_values():
    with pytest.raises(ValueError, match="needs 5 values, not 4"):
        mean_interval([1.0, 2.0, 3.0, 4.0])
