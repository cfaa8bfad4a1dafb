"""The turns of one name in the rounds → `Performance` with its intervals and ratios, and the raw samples as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from sitegen.measure.rounds import Timings, TurnResult, by_generation, converged, cycles, times
from sitegen.measure.statistics import (
    Rounds,
    median_interval,
    quantile,
    ratio_interval,
    round_medians,
    round_ratios,
)
from sitegen.model.record import Performance, Ratio, Sustained

SamplesOf = Callable[[Sequence[TurnResult], int], list[Rounds] | None]
"""Turns and the number of generations → samples by generation and round: `times` or `cycles`."""


def performance_of(
    name: str, timings: Timings, baseline: str | None, *, graph: bool, launch_bound: bool, allocates: bool
) -> Performance:
    """Return the figures of one name.  `baseline` is the one whose ratio decides `converged`."""
    turns, sustained = timings.turns[name], timings.sustained.get(name)
    by_process, in_cycles = times(turns, timings.generations), cycles(turns, timings.generations)
    interval = median_interval(by_process)
    samples = [us for turn in turns for us in turn.us]
    return Performance(
        median_us=interval.value,
        p20_us=quantile(samples, 0.2),
        p80_us=quantile(samples, 0.8),
        min_us=min(samples),
        low_us=interval.low,
        high_us=interval.high,
        samples=len(samples),
        rounds_us=tuple(round_medians([turn.us for turn in turns])),
        ratios=_ratios(timings, timings.turns, name, times),
        graph=graph,
        launch_bound=launch_bound,
        allocates=allocates,
        converged=converged(timings, name, baseline),
        sm_clock_mhz=_median(turn.clock_mhz for turn in turns),
        power_w=_median(turn.power_w for turn in turns),
        cycles=median_interval(in_cycles).value if in_cycles else None,
        by_process_us=tuple(median(round_medians(rounds)) for rounds in by_process),
        cycle_ratios=_ratios(timings, timings.turns, name, cycles) if sustained else (),
        throttle=_throttle(turns),
        late_rounds=_late(turns),
        empty_kernel_us=_empty_kernel_us(timings, graph),
        sustained=_sustained(timings, name) if sustained else None,
    )


def samples_artefact(timings: Timings, name: str) -> bytes:
    """Return the raw samples as compact JSON.

    `rounds_us` has a list of microseconds per round, rounded to 0.1 ns, `clock_mhz` the SM clock of each round,
    `generations` the rounds of each generation, and `empty_kernel_us` the time of an empty kernel in each way of
    timing.  A matrix kernel has its sustained rounds too.
    """
    turns, sustained = timings.turns[name], timings.sustained.get(name)
    content: dict[str, Any] = {
        "generations": [len(part) for part in by_generation(turns, timings.generations)],
        **_raw("", turns),
    }
    content |= _raw("sustained_", sustained) if sustained else {}
    if timings.empty_kernel:
        content["empty_kernel_us"] = {
            "graph": round(timings.empty_kernel.graph_us, 4),
            "events": round(timings.empty_kernel.events_us, 4),
        }
    return json.dumps(content, separators=(",", ":")).encode()


def _sustained(timings: Timings, name: str) -> Sustained:
    turns = timings.sustained[name]
    in_cycles = cycles(turns, timings.generations)
    interval = median_interval(times(turns, timings.generations))
    return Sustained(
        median_us=interval.value,
        low_us=interval.low,
        high_us=interval.high,
        samples=sum(len(turn.us) for turn in turns),
        rounds_us=tuple(round_medians([turn.us for turn in turns])),
        ratios=_ratios(timings, timings.sustained, name, times),
        sm_clock_mhz=_median(turn.clock_mhz for turn in turns),
        power_w=_median(turn.power_w for turn in turns),
        cycles=median_interval(in_cycles).value if in_cycles else None,
        throttle=_throttle(turns),
        late_rounds=_late(turns),
    )


def _raw(prefix: str, turns: list[TurnResult]) -> dict[str, Any]:
    return {
        f"{prefix}rounds_us": [[round(us, 4) for us in turn.us] for turn in turns],
        f"{prefix}clock_mhz": [None if turn.clock_mhz is None else round(turn.clock_mhz, 3) for turn in turns],
    }


def _ratios(
    timings: Timings, turns: Mapping[str, list[TurnResult]], name: str, samples: SamplesOf
) -> tuple[Ratio, ...]:
    """Return the ratio to every baseline and probe that took turns; none where a clock is not known."""
    others = [other for other in turns if other != name and other in timings.compared_with]
    own = samples(turns[name], timings.generations)
    both = [(other, samples(turns[other], timings.generations), own) for other in others]
    return tuple(_ratio(other, theirs, own) for other, theirs, own in both if theirs and own)


def _ratio(other: str, theirs: list[Rounds], own: list[Rounds]) -> Ratio:
    interval = ratio_interval(theirs, own)
    by_process = tuple(median(round_ratios(b, t)) for b, t in zip(theirs, own, strict=True))
    return Ratio(other, interval.value, interval.low, interval.high, by_process)


def _throttle(turns: Sequence[TurnResult]) -> tuple[str, ...]:
    return tuple(sorted({reason for turn in turns for reason in turn.throttle}))


def _late(turns: Sequence[TurnResult]) -> int:
    return sum(turn.late for turn in turns)


def _empty_kernel_us(timings: Timings, graph: bool) -> float | None:
    """Return the time of an empty kernel in the way in which the calls were timed."""
    empty = timings.empty_kernel
    return None if empty is None else empty.graph_us if graph else empty.events_us


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
