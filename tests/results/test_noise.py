"""Estimates of the noise from the generations of processes."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import mean

import pytest

from sitegen.model.record import Ratio, Record, Role
from sitegen.results.noise import AA_NOISE, noise_by_timing, noise_of

BASELINE_US = 100.0


def contestants(made, drifts: dict[str, float], workload: str = "1000x1000", us: float = BASELINE_US) -> list:
    """Return contestants and `torch`; the second process of each took e^drift times as long as the first."""
    times = {name: (us * math.exp(-drift / 2), us * math.exp(drift / 2)) for name, drift in drifts.items()}
    return [
        seen_by(replace(made.evaluations[1], name=name, workload=workload), us, halves, times["torch"])
        for name, halves in times.items()
    ]


def seen_by(evaluation, us, halves, baseline):
    name = evaluation.name
    ratios = (
        ()
        if name == "torch"
        else (Ratio("torch", 1.0, 1.0, 1.0, tuple(b / t for b, t in zip(baseline, halves, strict=True))),)
    )
    timed = replace(evaluation.performance, median_us=us, by_process_us=halves, ratios=ratios)
    return replace(evaluation, role=Role.BASELINE if name == "torch" else Role.IMPLEMENTATION, performance=timed)


def record_of(made, *groups: list) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), tuple(e for group in groups for e in group))


def normal(seed: int, deviation: float, names: tuple[str, ...]) -> dict[str, float]:
    """Return drifts of contestants whose processes have that standard deviation each."""
    rng = random.Random(seed)
    return {name: rng.gauss(0, deviation * math.sqrt(2)) for name in names}


def test_a_record_of_one_process_has_the_noise_that_was_tried(made):
    once = [replace(e, performance=replace(e.performance, by_process_us=())) for e in made.evaluations]
    record = record_of(made, once)
    assert noise_by_timing(record) == {} and noise_of(record, once[0]) == AA_NOISE


def test_who_was_timed_alone_says_nothing_of_ratios(made):
    record = record_of(made, contestants(made, {"torch": 0.02}))
    assert noise_of(record, record.evaluations[0]) == AA_NOISE


def test_what_all_contestants_share_is_no_noise_of_their_ratios(made):
    """The clock of the second generation was lower: every call took 2 % longer."""
    together = record_of(made, contestants(made, dict.fromkeys(("torch", "a", "b", "c"), 0.02)))
    apart = record_of(made, contestants(made, {"torch": 0.02, "a": 0.01, "b": 0.03, "c": 0.0}))
    assert noise_of(together, together.evaluations[0]) < AA_NOISE < noise_of(apart, apart.evaluations[0])


def test_without_a_baseline_the_times_themselves_are_compared(made):
    drifts = {"torch": 0.02, "a": 0.01, "b": 0.03, "c": 0.0}
    with_ratios = record_of(made, contestants(made, drifts))
    bare = [replace(e, performance=replace(e.performance, ratios=())) for e in with_ratios.evaluations]
    assert noise_of(record_of(made, bare), bare[0]) == pytest.approx(noise_of(with_ratios, bare[0]))


@pytest.mark.parametrize("deviation", [0.001, 0.004])
def test_it_is_the_deviation_of_a_whole_runs_ratio(made, deviation):
    """A ratio has the noise of two contestants, and the mean of two processes half the variance of one."""
    names = ("torch", "a", "b", "c", "d", "e", "f")
    found = []
    for seed in range(60):
        groups = [contestants(made, normal(4 * seed + n, deviation, names), f"w{n}") for n in range(4)]
        record = record_of(made, *groups)
        found += [noise_of(record, group[0]) for group in groups]
    assert mean(found) == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("generations", [3, 2, 5])
def test_the_mean_of_more_processes_is_quieter(made, generations):
    """The deviation is d √(2 / n) for n processes, each off by d, and two contestants to a ratio."""
    rng, deviation = random.Random(1), 0.003
    found = []
    for _ in range(200):
        seen = {
            name: tuple(BASELINE_US * math.exp(rng.gauss(0, deviation)) for _ in range(generations))
            for name in ("torch", "a", "b", "c", "d", "e", "f")
        }
        one = [
            seen_by(replace(made.evaluations[1], name=name), BASELINE_US, times, seen["torch"])
            for name, times in seen.items()
        ]
        found.append(noise_of(record_of(made, one), one[0]))
    # what is told of few is drawn towards AA_NOISE
    assert 0.75 < mean(found) / (deviation * math.sqrt(2 / generations)) < 1.02


def test_the_last_of_three_processes_counts_as_much_as_the_others(made):
    """Any of them may be the one that is 1 % off."""
    found = []
    for odd in range(3):
        off = tuple(101.0 if at == odd else 100.0 for at in range(3))
        seen = {"torch": (100.0,) * 3, "a": off, "b": (100.0,) * 3}
        one = [seen_by(replace(made.evaluations[1], name=n), 100.0, us, seen["torch"]) for n, us in seen.items()]
        found.append(noise_of(record_of(made, one), one[0]))
    assert found == pytest.approx([found[0]] * 3) and found[0] > AA_NOISE


def test_three_contestants_that_drew_a_large_noise_hide_nothing(made):
    """The worst of a thousand records of three contestants stays below what would raise the threshold over 1 %."""
    records = [
        record_of(
            made, *(contestants(made, normal(2 * seed + n, 0.00092, ("torch", "a", "b")), f"w{n}") for n in range(2))
        )
        for seed in range(1000)
    ]
    worst = sorted(noise_of(record, record.evaluations[0]) for record in records)
    assert 4 * worst[-1] < 0.01
    assert worst[0] > 0  # nor is anything ever believed to be without noise


def test_one_contestant_of_two_speeds_hides_no_regression_of_the_others(made):
    quiet = {"torch": 0.0, "a": 0.001, "b": -0.001, "c": 0.0005, "d": 0.0}
    record = record_of(made, contestants(made, {**quiet, "two speeds": 0.04}))
    assert 4 * noise_of(record, record.evaluations[0]) < 0.01


def test_workloads_of_another_duration_say_nothing_of_this_one(made):
    loud = contestants(made, {"torch": 0.03, "a": 0.0, "b": -0.03}, "short", us=5.0)
    quiet = contestants(made, {"torch": 0.001, "a": 0.0, "b": -0.001}, "long", us=500.0)
    near = contestants(made, {"torch": 0.001, "a": 0.0, "b": -0.001}, "long", us=15.0)
    assert noise_of(record_of(made, loud, quiet), loud[0]) > noise_of(record_of(made, loud, near), loud[0])
    assert noise_of(record_of(made, loud, quiet), quiet[0]) < AA_NOISE


def test_what_another_run_timed_was_not_timed_together(made):
    now = contestants(made, {"torch": 0.0, "a": 0.0, "b": 0.0})
    before = [replace(e, run="2026-11-20T06:00:00Z", name=f"old {e.name}") for e in contestants(made, {"torch": 0.05})]
    assert noise_of(record_of(made, now, before), now[0]) == noise_of(record_of(made, now), now[0])
