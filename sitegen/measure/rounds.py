"""Turns of every implementation, baseline and probe of a job, in rounds → `Timings`, and when the rounds may stop.

In each round everything takes one turn, in random order.  A generation is a set of fresh processes, one for each
implementation, baseline and probe.  The first generation takes rounds until the intervals are narrow; two more
generations take as many rounds each, and then two more while `needs_more` asks for them (extra_generations.py).
Several generations are needed because one process is not enough: on an H200 the time of the same sum differs by 0.3 %
between processes, though it repeats to 0.03 % within each.

A matrix kernel runs into the power cap, so its time depends on what ran before.  Every second round is therefore the
reverse of the one before (A B B A), and everything takes two turns in a round: in bursts after idleness, and after a
stretch of itself.

This module is pure: `Processes` takes the turns, so the tests run rounds without a GPU.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from sitegen.measure.statistics import DRAWS, Rounds, median_interval, ratio_interval

GENERATIONS, GENERATION_ROUNDS, LEAST_SAMPLES = 3, 4, 20
"""Generations of a job; the least rounds of a generation (all generations take as many as the first); the least samples
of a turn."""
LEAST_ROUNDS = GENERATIONS * GENERATION_ROUNDS
TURN_US = 8000.0
"""Microseconds that the samples of a turn fill together.  With 20 samples of 65 µs the median of a round is uncertain
by 0.4 %, and a generation may take only four rounds.  Preparing a turn takes as long as this anyway."""
GRAPH_US, LEAST_REPLAYS = 1000.0, 10
"""Microseconds that the calls of a CUDA graph take together, about; the least samples of a turn when a sample is the
replay of a graph with several calls.  On an H200 two events add about 2.7 µs to what stands between them, which is
0.3 % of this."""
MORE_GENERATIONS = 2
"""Further generations that are added at once; their processes are prepared side by side."""
MOST_DEVICE_S, MOST_JOB_S = 3.0, 6.0
"""Limits of the device time of one evaluation and of all evaluations of a job, over all rounds.  Half a minute for ten
evaluations was tried: an interval that is not narrow after six seconds belongs to code with two speeds, and its median
stays undecided between them for as long as it is timed."""
NARROW = 0.002
"""The largest half-width of the 95 % interval of the ratio to the baseline that counts as narrow, relative."""
_FIRST_NARROW = 0.75 * NARROW * GENERATIONS**0.5
"""The half-width that the first generation alone must reach.  All generations together are then narrow with some
margin, because a later one may be noisier than the first."""
_CHECK_EVERY = 2
"""Rounds between two checks of the intervals: pairs of rounds stay whole, and a generation has an even number of rounds
(statistics.py)."""
_STOP_DRAWS, _MARGIN = 200, 0.9
"""The check before the last round uses few draws and a stricter limit, because that round may widen the interval."""

T = TypeVar("T")


class TurnKind(StrEnum):
    """Preparation of a turn before its samples."""

    PLAIN = "plain"
    """Calls for a few milliseconds."""
    BURST = "burst"
    """Idleness for a while, so that a power-capped GPU is as fast as it ever is."""
    SUSTAINED = "sustained"
    """Calls for 300 ms, so that the GPU is as slow as its power makes it."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """Samples of one turn."""

    us: tuple[float, ...]
    """Device time of one call, in microseconds, one value for each sample."""
    busy_s: float
    """Wall time of the turn without idleness."""
    clock_mhz: float | None = None
    power_w: float | None = None
    """None for a turn that is too short for NVML (clock.py)."""
    throttle: tuple[str, ...] = ()
    late: bool = False
    """True when the GPU may have waited for the host: calls were queued too late, also when the turn was repeated."""


@dataclass(frozen=True, slots=True)
class EmptyKernel:
    """Device time of a kernel that does nothing, in microseconds: what each way of timing adds to a call."""

    graph_us: float
    events_us: float


@dataclass(frozen=True, slots=True)
class RoundRules:
    """Rules of the rounds of one job."""

    judged: tuple[str, ...]
    """Names whose intervals must be narrow: the implementations."""
    baseline: str | None
    """The baseline to which the ratio is taken."""
    seed: int
    """Seed of the order within the rounds."""
    matrix: bool = False
    """True to take burst and sustained turns in the order A B B A; the interval is that of the bursts."""

    @property
    def kinds(self) -> tuple[TurnKind, ...]:
        return (TurnKind.BURST, TurnKind.SUSTAINED) if self.matrix else (TurnKind.PLAIN,)


@dataclass(slots=True)
class Timings:
    """Turns that were taken so far: `turns[name][n]` is round n of that implementation, baseline or probe."""

    turns: dict[str, list[TurnResult]] = field(default_factory=dict)
    """Plain or burst turns, from which the figures come."""
    sustained: dict[str, list[TurnResult]] = field(default_factory=dict)
    """The second turn of each round of a matrix kernel."""
    compared_with: tuple[str, ...] = ()
    """Baselines and probes to which ratios are stored."""
    generations: int = 1
    """Generations of processes so far."""
    empty_kernel: EmptyKernel | None = None
    """None where it could not be timed."""

    def of(self, kind: TurnKind) -> dict[str, list[TurnResult]]:
        """Return the turns of that kind, by name."""
        return self.sustained if kind is TurnKind.SUSTAINED else self.turns

    def busy_s(self, name: str) -> float:
        """Return the device time that one name has used, in seconds."""
        return sum(turn.busy_s for turns in (self.turns, self.sustained) for turn in turns.get(name, []))

    def drop(self, name: str) -> None:
        """Remove all turns of one name, which takes no further turn."""
        for turns in (self.turns, self.sustained):
            turns.pop(name, None)


class Processes(Protocol):
    """The processes that take the turns of a job."""

    def turn(self, name: str, kind: TurnKind, recheck: bool) -> TurnResult | None:
        """Take one turn, and check its last output when `recheck`.  Return None when that evaluation has failed."""

    def start_generation(self, number: int) -> None:
        """End the present processes and continue with those of that generation, counted from 1."""

    def needs_more(self, timings: Timings) -> bool:
        """Return whether two more generations must time the job."""


def by_generation(values: Sequence[T], generations: int) -> list[Sequence[T]]:
    """Split one value per round into equally long parts, one for each generation; no part is empty."""
    size = max(1, len(values) // generations)
    return [values[at : at + size] for at in range(0, len(values), size)]


def times(turns: Sequence[TurnResult], generations: int) -> list[Rounds]:
    """Return the samples in microseconds, by generation and round."""
    return by_generation([turn.us for turn in turns], generations)


def cycles(turns: Sequence[TurnResult], generations: int) -> list[Rounds] | None:
    """Return the samples in SM cycles, by generation and round; None unless the clock of every turn is known."""
    if any(turn.clock_mhz is None for turn in turns):
        return None
    return by_generation([[us * (turn.clock_mhz or 0.0) for us in turn.us] for turn in turns], generations)


def run_rounds(names: Sequence[str], rules: RoundRules, processes: Processes) -> Timings:
    """Take all rounds of a job and return its turns.  The outputs of the last round of each generation are checked."""
    timings = Timings({name: [] for name in names}, {name: [] for name in names} if rules.matrix else {})
    rounds = _run_first_generation(timings, rules, processes)
    while timings.turns and (not _is_whole(timings) or processes.needs_more(timings)):
        timings.generations += 1
        processes.start_generation(timings.generations)
        _run_generation(timings, rules, rounds, processes)
    return timings


def _is_whole(timings: Timings) -> bool:
    """Return whether every generation that was prepared together with others has taken its rounds."""
    return timings.generations >= GENERATIONS and (timings.generations - GENERATIONS) % MORE_GENERATIONS == 0


def _run_first_generation(timings: Timings, rules: RoundRules, processes: Processes) -> int:
    """Take rounds until the first generation may stop; return how many."""
    number, settled = 0, False
    while timings.turns and not settled:
        last = _is_check_due(number + 1) and _may_stop(timings, rules, _FIRST_NARROW * _MARGIN, _STOP_DRAWS)
        _run_round(timings, rules, number, processes, recheck=last)
        number += 1
        settled = last and _may_stop(timings, rules, _FIRST_NARROW, DRAWS)
    return number


def _run_generation(timings: Timings, rules: RoundRules, rounds: int, processes: Processes) -> None:
    """Take as many rounds as each generation before."""
    first = rounds * (timings.generations - 1)
    for number in range(first, first + rounds):
        _run_round(timings, rules, number, processes, recheck=number == first + rounds - 1)


def _run_round(timings: Timings, rules: RoundRules, number: int, processes: Processes, recheck: bool) -> None:
    for kind in rules.kinds:
        for name in order_of(list(timings.turns), rules, number):
            result = processes.turn(name, kind, recheck and kind is rules.kinds[-1])
            if result is None:
                timings.drop(name)
            else:
                timings.of(kind)[name].append(result)


def order_of(names: Sequence[str], rules: RoundRules, number: int) -> list[str]:
    """Return the random order of a round; for matrix kernels every second round reverses the one before."""
    draw = number // 2 if rules.matrix else number
    order = sorted(names, key=lambda name: random.Random(f"{rules.seed} {draw} {name}").random())
    return order[::-1] if rules.matrix and number % 2 else order


def _is_check_due(rounds: int) -> bool:
    return rounds >= GENERATION_ROUNDS and (rounds - GENERATION_ROUNDS) % _CHECK_EVERY == 0


def _may_stop(timings: Timings, rules: RoundRules, narrow: float, draws: int) -> bool:
    """Return whether every judged interval is narrow, or a generation's share of the device time is used up."""
    spent = [GENERATIONS * timings.busy_s(name) for name in timings.turns]
    if max(spent, default=0.0) >= MOST_DEVICE_S or sum(spent) >= MOST_JOB_S:
        return True
    judged = [name for name in rules.judged if name in timings.turns]
    return all(converged(timings, name, rules.baseline, narrow, draws) for name in judged)


def converged(timings: Timings, name: str, baseline: str | None, narrow: float = NARROW, draws: int = DRAWS) -> bool:
    """Return whether the ratio to the baseline is known to ±0.2 %; without a baseline, the time itself."""
    own = times(timings.turns[name], timings.generations)
    if baseline is None:
        return median_interval(own, draws).half_width <= narrow
    if baseline not in timings.turns or name == baseline:
        return True
    return ratio_interval(times(timings.turns[baseline], timings.generations), own, draws).half_width <= narrow


def samples_per_turn(sample_us: Mapping[str, float], calls: Mapping[str, int]) -> dict[str, int]:
    """Map each name to the samples of its turns; `sample_us` is the device time of one sample, which has so many calls.

    A turn has as many samples as fill TURN_US, and at least LEAST_SAMPLES calls; fewer where LEAST_ROUNDS rounds of so
    slow a call would not fit into its device time, but at least two.
    """
    return {name: _samples(max(us, 1e-3), calls.get(name, 1)) for name, us in sample_us.items()}


def _samples(sample_us: float, calls: int) -> int:
    most = int(MOST_DEVICE_S * 1e6 / LEAST_ROUNDS / sample_us)
    return max(2, min(most, max(_least_samples(calls), int(TURN_US / sample_us))))


def _least_samples(calls: int) -> int:
    """Return the least samples of a turn whose samples have so many calls each."""
    return LEAST_SAMPLES if calls <= 1 else max(LEAST_REPLAYS, -(-LEAST_SAMPLES // calls))
