"""Rounds of turns: order, generations of processes, the stop rule, and implementations that fall out."""

from __future__ import annotations

import math
import random

import pytest

from sitegen.measure.rounds import (
    GENERATION_ROUNDS,
    GENERATIONS,
    GRAPH_US,
    LEAST_ROUNDS,
    LEAST_SAMPLES,
    MOST_DEVICE_S,
    TURN_US,
    RoundRules,
    Timings,
    TurnKind,
    TurnResult,
    by_generation,
    converged,
    cycles,
    run_rounds,
    samples_per_turn,
)


class FakeProcesses:
    """Turns without a GPU: each call takes a time in µs with a relative noise, by name.

    `asked` notes each turn and its generation.
    """

    def __init__(self, sizes, noise=None, busy_s=0.01, falls=None, seed=1):
        self.sizes, self.noise, self.busy_s, self.falls = sizes, noise or {}, busy_s, falls or {}
        self.asked, self.rng, self.generation = [], random.Random(seed), 1

    def turn(self, name, kind, recheck):
        self.asked.append((self.generation, name, kind, recheck))
        if self.falls.get(name, 10**9) <= self.names().count(name):
            return None
        shift = 1 + self.rng.gauss(0, self.noise.get(name, 0.0))
        us = tuple(self.sizes[name] * shift * (1 + self.rng.gauss(0, 1e-5)) for _ in range(20))
        return TurnResult(us, self.busy_s)

    def start_generation(self, number):
        self.generation += 1
        assert number == self.generation

    def needs_more(self, timings):
        return self.doubts(timings)

    def run(self, baseline="torch", matrix=False, needs_more=lambda _: False):
        judged = tuple(name for name in self.sizes if name != "read")
        rules = RoundRules(judged, baseline, seed=5, matrix=matrix)
        self.doubts = needs_more
        return run_rounds(list(self.sizes), rules, self)

    def names(self, kind=None):
        return [name for _, name, asked, _ in self.asked if kind in (None, asked)]

    def generations(self, of):
        """Return the generation of each turn of a name."""
        return [generation for generation, name, _, _ in self.asked if name == of]

    def orders(self, kind=None):
        """Return the names in the order of each round; no name may have fallen out."""
        names, many = self.names(kind), len(self.sizes)
        return [names[i : i + many] for i in range(0, len(names), many)]


def test_quiet_timings_stop_at_four_rounds_of_each_of_three_generations():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0})
    timings = processes.run()
    assert {name: len(turns) for name, turns in timings.turns.items()} == {"torch": LEAST_ROUNDS, "ours": LEAST_ROUNDS}
    assert processes.generations("ours") == sorted([1, 2, 3] * 4)


def test_a_noisy_first_generation_takes_its_share_of_the_device_time_and_all_others_as_many_rounds():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0}, noise={"ours": 0.2}, busy_s=0.1)
    timings = processes.run()
    assert MOST_DEVICE_S <= timings.busy_s("ours") <= MOST_DEVICE_S + 2 * GENERATIONS * processes.busy_s + 0.3
    assert not converged(timings, "ours", "torch")
    rounds = len(timings.turns["ours"]) // GENERATIONS
    assert rounds > GENERATION_ROUNDS
    assert processes.generations("ours") == sorted([1, 2, 3] * rounds)


def test_what_stops_before_its_time_is_spent_is_nearly_always_converged_as_stored():
    """The first generation decides for all of them, and its rounds may have been quieter than the others."""
    noise = {"ours": 0.0025}
    jobs = [FakeProcesses({"torch": 100.0, "ours": 50.0}, noise, seed=seed).run() for seed in range(50)]
    assert sum(converged(timings, "ours", "torch") or timings.busy_s("ours") >= MOST_DEVICE_S for timings in jobs) >= 45


def test_a_generation_always_has_an_even_number_of_rounds():
    lengths = {
        len(FakeProcesses({"torch": 1.0, "ours": 2.0}, noise={"ours": 0.004}, seed=seed).run().turns["ours"])
        for seed in range(10)
    }
    assert len(lengths) > 1
    assert {length % (2 * GENERATIONS) for length in lengths} == {0}


def test_a_noisy_probe_keeps_nobody_waiting():
    timings = FakeProcesses({"torch": 100.0, "ours": 50.0, "read": 10.0}, noise={"read": 0.3}).run()
    assert len(timings.turns["ours"]) == LEAST_ROUNDS


def test_nobody_is_timed_twice_before_all_others_were_timed_once():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0, "copy": 40.0})
    processes.run()
    assert all(sorted(order) == ["copy", "ours", "torch"] for order in processes.orders())


def test_the_order_changes_from_round_to_round_and_is_the_same_for_the_same_seed():
    first, second = (FakeProcesses(dict.fromkeys("abcd", 1.0)) for _ in range(2))
    first.run(None), second.run(None)
    assert first.asked == second.asked
    assert len({tuple(order) for order in first.orders()}) > 3


def test_each_second_round_of_a_matrix_kernel_is_the_reverse_of_the_one_before_in_bursts_and_sustained():
    processes = FakeProcesses(dict.fromkeys(["torch", *"abcd"], 1.0))
    processes.run(matrix=True)
    bursts, sustained = processes.orders(TurnKind.BURST), processes.orders(TurnKind.SUSTAINED)
    assert bursts == sustained
    assert len(bursts) == LEAST_ROUNDS
    assert all(bursts[at] == bursts[at + 1][::-1] for at in range(0, LEAST_ROUNDS, 2))
    assert len({tuple(order) for order in bursts}) > 4


def test_a_round_of_a_matrix_kernel_ends_with_sustained_turns_and_both_are_kept():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0})
    timings = processes.run(matrix=True)
    assert [kind for _, _, kind, _ in processes.asked[:4]] == [
        TurnKind.BURST,
        TurnKind.BURST,
        TurnKind.SUSTAINED,
        TurnKind.SUSTAINED,
    ]
    assert len(timings.turns["ours"]) == len(timings.sustained["ours"]) == LEAST_ROUNDS
    assert FakeProcesses({"torch": 1.0}).run().sustained == {}


def test_noise_in_sustained_turns_keeps_no_matrix_kernel_waiting():
    class Hot(FakeProcesses):
        def turn(self, name, kind, recheck):
            quiet = super().turn(name, kind, recheck)
            hot = kind is TurnKind.SUSTAINED and name == "ours"
            return TurnResult(tuple(us * self.rng.uniform(1, 2) for us in quiet.us), 0.01) if hot else quiet

    assert len(Hot({"torch": 100.0, "ours": 50.0}).run(matrix=True).turns["ours"]) == LEAST_ROUNDS


def test_one_who_falls_out_takes_no_further_turn_and_the_others_finish():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0, "faulty": 70.0}, falls={"faulty": 4})
    timings = processes.run()
    assert processes.names().count("faulty") == 4
    assert set(timings.turns) == {"torch", "ours"}
    assert len(timings.turns["ours"]) >= LEAST_ROUNDS


def test_one_who_falls_out_in_a_sustained_turn_leaves_no_burst_behind():
    timings = FakeProcesses({"torch": 100.0, "ours": 50.0, "faulty": 70.0}, falls={"faulty": 4}).run(matrix=True)
    assert set(timings.turns) == set(timings.sustained) == {"torch", "ours"}


@pytest.mark.parametrize("turns", [1, GENERATION_ROUNDS + 1])
def test_when_everybody_falls_out_the_race_is_over(turns):
    assert FakeProcesses({"ours": 1.0}, falls={"ours": turns}).run(None).turns == {}


def test_the_outputs_of_the_last_round_of_each_generation_are_checked_again():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0})
    processes.run()
    rechecked = [at for at, (_, _, _, recheck) in enumerate(processes.asked) if recheck]
    assert rechecked == [6, 7, 14, 15, 22, 23]
    assert len(processes.asked) == 24


def test_a_matrix_kernel_is_checked_again_after_its_very_last_call():
    processes = FakeProcesses({"torch": 100.0, "ours": 50.0})
    processes.run(matrix=True)
    assert {kind for _, _, kind, recheck in processes.asked if recheck} == {TurnKind.SUSTAINED}
    assert sum(recheck for _, _, _, recheck in processes.asked) == 2 * GENERATIONS


def test_rounds_are_told_apart_by_generation_each_as_long_as_the_others():
    assert by_generation(list(range(12)), 2) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert [part[0] for part in by_generation(list(range(36)), 6)] == [0, 6, 12, 18, 24, 30]
    assert by_generation([1, 2], 1) == [[1, 2]]
    assert by_generation([], 2) == []


def test_cycles_are_known_only_where_every_turn_knows_its_clock():
    known, unknown = TurnResult((2.0, 3.0), 0.1, clock_mhz=1000.0), TurnResult((2.0,), 0.1)
    assert cycles([known], 1) == [[[2000.0, 3000.0]]]
    assert cycles([known, unknown], 1) is None


def test_a_race_without_an_entrant_has_no_round():
    assert Timings().turns == run_rounds([], RoundRules((), None, 1), FakeProcesses({})).turns


def test_two_generations_more_take_as_many_rounds_as_long_as_there_is_doubt():
    processes, doubts = FakeProcesses({"torch": 100.0, "ours": 50.0}), []
    timings = processes.run(needs_more=lambda timings: doubts.append(timings.generations) or timings.generations < 7)
    assert timings.generations == processes.generation == 7
    assert doubts == [3, 5, 7]
    assert processes.generations("ours") == sorted([1, 2, 3, 4, 5, 6, 7] * 4)
    rechecked = [generation for generation, name, _, recheck in processes.asked if recheck and name == "ours"]
    assert rechecked == [1, 2, 3, 4, 5, 6, 7]


def test_one_who_falls_out_of_a_further_generation_is_out_and_the_others_finish():
    timings = FakeProcesses({"torch": 100.0, "ours": 50.0, "faulty": 70.0}, falls={"faulty": 17}).run(
        needs_more=lambda timings: timings.generations < 5
    )
    assert {name: len(turns) for name, turns in timings.turns.items()} == {"torch": 20, "ours": 20}


def test_a_very_slow_call_gets_fewer_samples_so_that_all_rounds_fit():
    found = samples_per_turn({"fine": 1000.0, "slow": 50_000.0, "glacial": 1e7}, {})
    assert found == {"fine": 20, "slow": 5, "glacial": 2}


def test_short_calls_are_taken_as_often_as_fills_a_turn_so_that_no_generation_is_all_noise():
    found = samples_per_turn({"sum": 64.0, "softmax": 133.0, "slow": 4000.0}, {})
    assert found == {"sum": 125, "softmax": 60, "slow": 20}


@pytest.mark.parametrize("us", [5.0, 64.0, 133.0, 400.0, 900.0, 999.0])
def test_a_turn_of_replays_has_as_many_calls_at_least_as_one_of_single_calls(us):
    """A replay is a mean over its calls, so fewer of them are enough."""
    calls = math.ceil(GRAPH_US / us)
    (samples,) = samples_per_turn({"graph": calls * us}, {"graph": calls}).values()
    assert samples * calls >= LEAST_SAMPLES
    assert samples >= 5
    assert samples * calls * us <= 2.5 * TURN_US
