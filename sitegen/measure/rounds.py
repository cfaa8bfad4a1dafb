"""Rounds: everybody in turn, by three generations of processes, each as long as the first needed for narrow intervals.

What one process happens to get would otherwise pass for the code's own speed: on an H200 the same sum differs by 0.3 %
between processes, though it is the same to 0.03 % in each.  Two more generations follow, and again, while there is
doubt (doubt.py).  The order of a round is random.
Matrix kernels run into the power cap, so what ran before matters: each second round is the one before reversed
(A B B A), and a round has two turns for each, in bursts after idleness and after a stretch of itself.

Pure but for the clock inside `turn`: what takes a turn is a function, so that tests run rounds without a GPU.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from sitegen.measure.statistics import DRAWS, Rounds, median_interval, ratio_interval

GENERATIONS, GENERATION_ROUNDS, LEAST_SAMPLES = 3, 4, 20
"""A generation takes so many rounds at least, and all of them as many as the first."""
LEAST_ROUNDS = GENERATIONS * GENERATION_ROUNDS
TURN_US = 8000.0
"""Samples of a turn, together.  Twenty of 65 µs leave a round's median 0.4 % uncertain, and a generation may take no
more than four rounds.  A turn takes so long anyhow until it is set up."""
MORE_GENERATIONS = 2
"""So many at once while there is doubt: they are prepared side by side."""
MOST_DEVICE_S, MOST_JOB_S = 3.0, 6.0
"""Of one evaluation and of all in a job, all rounds together.  Half a minute for ten contestants was tried: what is not
narrow after six seconds has two speeds, and its median stays undecided between them however long it is watched."""
NARROW = 0.002
"""Half the width of the 95 % interval of the ratio to the baseline, relative."""
_FIRST_NARROW = 0.75 * NARROW * GENERATIONS**0.5
"""Of the first generation alone, so that all together come out narrow: what follows may be noisier than it was."""
_CHECK_EVERY = 2
"""Rounds between two looks: pairs stay whole, and generations even (statistics.py)."""
_STOP_DRAWS, _MARGIN = 200, 0.9
"""A look is cheap and strict, since one more round follows, which may widen the interval."""

T = TypeVar("T")


class Kind(StrEnum):
    """What a turn does before its samples."""

    PLAIN = "plain"
    """A few milliseconds of itself."""
    BURST = "burst"
    """Idleness, so that a power-capped GPU is as fast as it ever is."""
    SUSTAINED = "sustained"
    """300 ms of itself, so that it is as slow as its power makes it."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    us: tuple[float, ...]
    busy_s: float
    """Wall time without idleness."""
    clock_mhz: float | None = None
    power_w: float | None = None
    throttle: tuple[str, ...] = ()


Turn = Callable[[str, Kind, bool], TurnResult | None]
"""(name, kind, whether to check the last output again) → samples; None when that one is out of the race."""


@dataclass(frozen=True, slots=True)
class Rules:
    judged: tuple[str, ...]
    """Whose interval must be narrow."""
    baseline: str | None
    seed: int
    matrix: bool = False
    """Burst and sustained turns, A B B A; the interval is that of bursts."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (Kind.BURST, Kind.SUSTAINED) if self.matrix else (Kind.PLAIN,)


@dataclass(slots=True)
class Race:
    """Who runs, and what they brought so far: `turns[name][n]` is round n of that name."""

    turns: dict[str, list[TurnResult]] = field(default_factory=dict)
    """Plain or burst turns: whence the figures come."""
    sustained: dict[str, list[TurnResult]] = field(default_factory=dict)
    """Of matrix kernels, the other turn of each round."""
    yardsticks: tuple[str, ...] = ()
    """The baselines and probes, to which ratios are stored."""
    generations: int = 1
    """Of processes, until now."""

    def of(self, kind: Kind) -> dict[str, list[TurnResult]]:
        return self.sustained if kind is Kind.SUSTAINED else self.turns

    def busy_s(self, name: str) -> float:
        return sum(turn.busy_s for turns in (self.turns, self.sustained) for turn in turns.get(name, []))

    def drop(self, name: str) -> None:
        for turns in (self.turns, self.sustained):
            turns.pop(name, None)


def by_generation(values: Sequence[T], generations: int) -> list[Sequence[T]]:
    """What each round brought → the same by generation of processes, of which each took as many; none is empty."""
    size = max(1, len(values) // generations)
    return [values[at : at + size] for at in range(0, len(values), size)]


def times(turns: Sequence[TurnResult], generations: int) -> list[Rounds]:
    """Microseconds, by generation."""
    return by_generation([turn.us for turn in turns], generations)


def cycles(turns: Sequence[TurnResult], generations: int) -> list[Rounds] | None:
    """SM cycles by the clock of each turn, by generation; None unless every turn knows its clock."""
    if any(turn.clock_mhz is None for turn in turns):
        return None
    return by_generation([[us * (turn.clock_mhz or 0.0) for us in turn.us] for turn in turns], generations)


def run_rounds(
    names: Sequence[str],
    rules: Rules,
    turn: Turn,
    take_over: Callable[[int], None],
    in_doubt: Callable[[Race], bool],
) -> Race:
    """Rounds of the first generation until it is settled, then `take_over` by the next and as many rounds, and two more
    generations as long as there is doubt.  The outputs of the last round of each are checked again."""
    race = Race({name: [] for name in names}, {name: [] for name in names} if rules.matrix else {})
    rounds = _until_settled(race, rules, turn)
    while race.turns and (not _is_whole(race) or in_doubt(race)):
        race.generations += 1
        take_over(race.generations)
        _generation(race, rules, rounds, turn)
    return race


def _is_whole(race: Race) -> bool:
    """Whether it has all generations that were prepared together."""
    return race.generations >= GENERATIONS and (race.generations - GENERATIONS) % MORE_GENERATIONS == 0


def _until_settled(race: Race, rules: Rules, turn: Turn) -> int:
    """The rounds of the first generation → how many."""
    number, settled = 0, False
    while race.turns and not settled:
        last = _time_to_look(number + 1) and _settled(race, rules, _FIRST_NARROW * _MARGIN, _STOP_DRAWS)
        _round(race, rules, number, turn, recheck=last)
        number += 1
        settled = last and _settled(race, rules, _FIRST_NARROW, DRAWS)
    return number


def _generation(race: Race, rules: Rules, rounds: int, turn: Turn) -> None:
    """As many rounds as each one before."""
    first = rounds * (race.generations - 1)
    for number in range(first, first + rounds):
        _round(race, rules, number, turn, recheck=number == first + rounds - 1)


def _round(race: Race, rules: Rules, number: int, turn: Turn, recheck: bool) -> None:
    for kind in rules.kinds:
        for name in order_of(list(race.turns), rules, number):
            result = turn(name, kind, recheck and kind is rules.kinds[-1])
            if result is None:
                race.drop(name)
            else:
                race.of(kind)[name].append(result)


def order_of(names: Sequence[str], rules: Rules, number: int) -> list[str]:
    """Random; of matrix kernels every second round is the reverse of the one before."""
    draw = number // 2 if rules.matrix else number
    order = sorted(names, key=lambda name: random.Random(f"{rules.seed} {draw} {name}").random())
    return order[::-1] if rules.matrix and number % 2 else order


def _time_to_look(rounds: int) -> bool:
    return rounds >= GENERATION_ROUNDS and (rounds - GENERATION_ROUNDS) % _CHECK_EVERY == 0


def _settled(race: Race, rules: Rules, narrow: float, draws: int) -> bool:
    """Either a generation's share of the device time is spent or every judged interval is narrow."""
    spent = [GENERATIONS * race.busy_s(name) for name in race.turns]
    if max(spent, default=0.0) >= MOST_DEVICE_S or sum(spent) >= MOST_JOB_S:
        return True
    judged = [name for name in rules.judged if name in race.turns]
    return all(converged(race, name, rules.baseline, narrow, draws) for name in judged)


def converged(race: Race, name: str, baseline: str | None, narrow: float = NARROW, draws: int = DRAWS) -> bool:
    """Whether the ratio to the baseline is known to ±0.2 %; without one, the median itself."""
    own = times(race.turns[name], race.generations)
    if baseline is None:
        return median_interval(own, draws).half_width <= narrow
    if baseline not in race.turns or name == baseline:
        return True
    return ratio_interval(times(race.turns[baseline], race.generations), own, draws).half_width <= narrow


def samples_per_turn(sample_us: Mapping[str, float]) -> dict[str, int]:
    """As many as take TURN_US, LEAST_SAMPLES at least; fewer of what is so slow that LEAST_ROUNDS of it would not fit
    in its device time."""
    most = {name: int(MOST_DEVICE_S * 1e6 / LEAST_ROUNDS / max(us, 1e-3)) for name, us in sample_us.items()}
    wanted = {name: max(LEAST_SAMPLES, int(TURN_US / max(us, 1e-3))) for name, us in sample_us.items()}
    return {name: max(2, min(wanted[name], most[name])) for name in sample_us}
