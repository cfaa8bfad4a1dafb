"""Everybody in turn: order, stopping, and what becomes of one who falls out."""

from __future__ import annotations

import random

import pytest

from sitegen.measure.rounds import LEAST_ROUNDS, MOST_DEVICE_S, TurnResult, converged, run_rounds, samples_per_turn


class Bench:
    """Turns without a GPU: so many µs per call with a relative noise, by name, and a note of who was asked when."""

    def __init__(self, sizes, noise=None, busy_s=0.01, falls=None):
        self.sizes, self.noise, self.busy_s, self.falls = sizes, noise or {}, busy_s, falls or {}
        self.asked, self.rechecked, self.rng = [], [], random.Random(1)

    def turn(self, name, recheck):
        self.asked.append(name)
        self.rechecked += [name] if recheck else []
        if self.falls.get(name, 10**9) <= self.asked.count(name):
            return None
        us = tuple(self.sizes[name] * (1 + self.rng.gauss(0, self.noise.get(name, 0.0))) for _ in range(20))
        return TurnResult(us, self.busy_s)

    def run(self, baseline="torch"):
        return run_rounds(list(self.sizes), [n for n in self.sizes if n != "read"], baseline, self.turn, seed=5)


def test_quiet_timings_stop_at_eleven_rounds():
    race = Bench({"torch": 100.0, "ours": 50.0}).run()
    assert {name: len(turns) for name, turns in race.turns.items()} == {"torch": LEAST_ROUNDS, "ours": LEAST_ROUNDS}


def test_noisy_timings_go_on_until_the_device_time_is_spent():
    bench = Bench({"torch": 100.0, "ours": 50.0}, noise={"ours": 0.2}, busy_s=0.1)
    race = bench.run()
    assert race.busy_s("ours") == pytest.approx(MOST_DEVICE_S + 0.1)
    assert not converged(race, "ours", "torch")


def test_a_noisy_probe_keeps_nobody_waiting():
    race = Bench({"torch": 100.0, "ours": 50.0, "read": 10.0}, noise={"read": 0.3}).run()
    assert len(race.turns["ours"]) == LEAST_ROUNDS


def test_nobody_is_timed_twice_before_all_others_were_timed_once():
    bench = Bench({"torch": 100.0, "ours": 50.0, "copy": 40.0})
    bench.run()
    rounds = [bench.asked[i : i + 3] for i in range(0, len(bench.asked), 3)]
    assert all(sorted(order) == ["copy", "ours", "torch"] for order in rounds)


def test_the_order_changes_from_round_to_round_and_is_the_same_for_the_same_seed():
    first, second = (Bench(dict.fromkeys("abcd", 1.0)) for _ in range(2))
    first.run(None), second.run(None)
    assert first.asked == second.asked
    assert len({tuple(first.asked[i : i + 4]) for i in range(0, len(first.asked), 4)}) > 3


def test_one_who_falls_out_takes_no_further_turn_and_the_others_finish():
    bench = Bench({"torch": 100.0, "ours": 50.0, "faulty": 70.0}, falls={"faulty": 4})
    race = bench.run()
    assert bench.asked.count("faulty") == 4
    assert set(race.turns) == {"torch", "ours"}
    assert len(race.turns["ours"]) >= LEAST_ROUNDS


def test_when_everybody_falls_out_the_race_is_over():
    assert Bench({"ours": 1.0}, falls={"ours": 1}).run(None).turns == {}


def test_the_outputs_of_the_last_round_are_checked_again():
    bench = Bench({"torch": 100.0, "ours": 50.0})
    bench.run()
    assert sorted(bench.rechecked) == ["ours", "torch"]
    assert sorted(bench.asked[-2:]) == ["ours", "torch"]


def test_a_very_slow_call_gets_fewer_samples_so_that_eleven_rounds_fit():
    found = samples_per_turn({"fast": 100.0, "slow": 50_000.0, "glacial": 1e7})
    assert found == {"fast": 20, "slow": 5, "glacial": 2}
