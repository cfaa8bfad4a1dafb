"""Rounds: everybody in turn, in random order, until the intervals are narrow or the time is spent.

Pure but for the clock inside `turn`: what takes a turn is a function, so that tests run rounds without a GPU.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sitegen.measure.statistics import median_interval, ratio_interval

LEAST_ROUNDS, LEAST_SAMPLES = 11, 20
MOST_DEVICE_S = 3.0
"""Of one evaluation, all rounds together."""
NARROW = 0.002
"""Half the width of the 95 % interval of the ratio to the baseline, relative."""
CHECK_EVERY = 4
_STOP_DRAWS = 200


@dataclass(frozen=True, slots=True)
class TurnResult:
    us: tuple[float, ...]
    busy_s: float
    clock_mhz: float | None = None
    power_w: float | None = None


Turn = Callable[[str, bool], TurnResult | None]
"""(name, recheck the last output) → samples; None when that one is out of the race."""


@dataclass(slots=True)
class Race:
    """Who runs, and what they brought so far: `turns[name][n]` is round n of that name."""

    turns: dict[str, list[TurnResult]] = field(default_factory=dict)
    yardsticks: tuple[str, ...] = ()
    """The baselines and probes, to which ratios are stored."""

    def rounds(self, name: str) -> list[tuple[float, ...]]:
        return [turn.us for turn in self.turns[name]]

    def busy_s(self, name: str) -> float:
        return sum(turn.busy_s for turn in self.turns[name])


def run_rounds(names: list[str], judged: list[str], baseline: str | None, turn: Turn, seed: int) -> Race:
    """Rounds until `finished`, and a last one whose outputs are checked again.  `judged`: whose interval counts."""
    rng, race = random.Random(seed), Race({name: [] for name in names})
    while race.turns and not finished(race, judged, baseline):
        _round(race, turn, rng, recheck=False)
    _round(race, turn, rng, recheck=True)
    return race


def _round(race: Race, turn: Turn, rng: random.Random, recheck: bool) -> None:
    order = list(race.turns)
    rng.shuffle(order)
    for name in order:
        result = turn(name, recheck)
        if result is None:
            del race.turns[name]
        else:
            race.turns[name].append(result)


def finished(race: Race, judged: list[str], baseline: str | None) -> bool:
    """Enough rounds, and either every judged interval is narrow or somebody's device time is spent."""
    done = min(len(turns) for turns in race.turns.values()) + 1
    if done < LEAST_ROUNDS:
        return False
    if max(race.busy_s(name) for name in race.turns) >= MOST_DEVICE_S:
        return True
    return (done - LEAST_ROUNDS) % CHECK_EVERY == 0 and all(
        converged(race, name, baseline, _STOP_DRAWS) for name in judged if name in race.turns
    )


def converged(race: Race, name: str, baseline: str | None, draws: int = 1000) -> bool:
    """Whether the ratio to the baseline is known to ±0.2 %; without one, the median itself."""
    if baseline is None or baseline not in race.turns or name == baseline:
        return median_interval(race.rounds(name)).half_width <= NARROW if baseline is None else True
    return ratio_interval(race.rounds(baseline), race.rounds(name), draws=draws).half_width <= NARROW


def samples_per_turn(estimates_us: Mapping[str, float]) -> dict[str, int]:
    """LEAST_SAMPLES, and fewer of what is so slow that eleven rounds of it would not fit in its device time."""
    fits = {name: int(MOST_DEVICE_S * 1e6 / LEAST_ROUNDS / max(us, 1e-3)) for name, us in estimates_us.items()}
    return {name: max(2, min(LEAST_SAMPLES, count)) for name, count in fits.items()}
