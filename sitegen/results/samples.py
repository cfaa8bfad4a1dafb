"""Read the raw samples of an evaluation from an artefact, and compare stored figures with them.

The figures are computed as `measure/` computes them.
"""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from pydantic import TypeAdapter

from sitegen.model.record import Evaluation, Performance, Ratio, Sustained

LARGEST_ARTEFACT = 256 * 1024
"""Most bytes of the gzip, which a page shows and git keeps for ever."""
LARGEST_CONTENT = 16 << 20
CLOSE, CLOSE_US = 5e-5, 2e-4
"""Largest difference of a stored figure from its samples, relative and in microseconds.

Figures have six digits, and samples are rounded to a tenth of a nanosecond.  The records of this repository are within
2e-5.
"""

LEAST_POINT_ROUNDS = 12
"""Least rounds of a point of a sweep: as many as measure/sweep_process.py takes."""
MOST_MHZ = 1e5
"""Limit of a clock that can be believed."""

Rounds = Sequence[Sequence[float]]
Clocks = Sequence[float | None]
_JSON = TypeAdapter(dict[str, Any])
"""JSON reader that is twice as fast as the module json; each cold build reads all samples."""


class BadSamples(ValueError):
    """An artefact that cannot be used; the message is a sentence."""


@dataclass(frozen=True)
class Samples:
    """Times of all calls in microseconds, by round; each round is sorted."""

    rounds: Rounds
    generations: tuple[int, ...]
    """Number of rounds of each generation of processes."""
    sustained: Rounds = ()
    clocks: Clocks = ()
    """SM clock of each round in MHz; None where it was not read."""
    sustained_clocks: Clocks = ()

    @cached_property
    def medians(self) -> list[float]:
        """Median of each round."""
        return [_median(one) for one in self.rounds]

    @cached_property
    def sustained_medians(self) -> list[float]:
        """Median of each round under sustained load."""
        return [_median(one) for one in self.sustained]


def unpacked(packed: bytes) -> bytes:
    """Return the content of a gzip.  Raises BadSamples when it is damaged or too large."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        content = inflate.decompress(packed, LARGEST_CONTENT + 1)
    except zlib.error as error:
        raise BadSamples(f"it is not a gzip ({error})") from error
    if len(packed) > LARGEST_ARTEFACT or len(content) > LARGEST_CONTENT:
        raise BadSamples(f"it is larger than {LARGEST_ARTEFACT // 1024} KB")
    if not inflate.eof or inflate.unused_data:
        raise BadSamples("it is not one whole gzip")
    return content


def samples_of(content: bytes, digest: str) -> Samples:
    """Return the samples in the content of an artefact.  Raises BadSamples."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise BadSamples("the samples have another hash than their name")
    try:
        data = _JSON.validate_json(content)
        rounds, sustained = _rounds(data["rounds_us"]), _rounds(data.get("sustained_rounds_us", []))
        generations = tuple(data.get("generations", [len(rounds)]))
        clocks, sustained_clocks = (_clocks(data.get(name, [])) for name in ("clock_mhz", "sustained_clock_mhz"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadSamples(f"the samples are not JSON of sitegen ({type(error).__name__})") from error
    if not rounds or not all(type(n) is int and n > 0 for n in generations) or sum(generations) != len(rounds):
        raise BadSamples("the samples have no rounds, or not those of their generations")
    if sustained and len(sustained) != len(rounds):
        raise BadSamples("the sustained samples have another number of rounds")
    return Samples(rounds, generations, sustained, clocks, sustained_clocks)


def _rounds(data: list[list[float]]) -> Rounds:
    rounds = [sorted(one) for one in data]
    for one in rounds:
        if not one or not (one[0] > 0 and sum(one) < 1e15):  # NaN and infinity fail it, too
            raise ValueError("a time is no time")
    return rounds


def _clocks(data: list[float | None]) -> Clocks:
    return [None if mhz is None else float(mhz) for mhz in data]


def contradictions(evaluation: Evaluation, own: Samples, others: dict[str, Samples]) -> Iterator[str]:
    """Yield a sentence for each stored figure that contradicts the samples.

    `others` are the samples of the baselines and probes of the same rounds, by name.
    """
    timed = evaluation.performance
    if timed is None:
        return
    yield from _differs("samples", timed.samples, sum(map(len, own.rounds)))
    yield from _figures(timed, own.medians, own)
    yield from _differs("min_us", timed.min_us, min(one[0] for one in own.rounds))
    yield from _quantile_differs("p20_us", timed.p20_us, 0.2, own.rounds)
    yield from _quantile_differs("p80_us", timed.p80_us, 0.8, own.rounds)
    if timed.by_process_us:
        yield from _all_differ("by_process_us", timed.by_process_us, _by_generation(own.medians, own))
    for ratio in timed.ratios:
        if ratio.baseline in others:
            yield from _ratio(ratio, others[ratio.baseline].medians, own.medians, own)
    yield from _cycles(timed, own.medians, own.clocks, own)
    if timed.sustained:
        yield from _of_sustained(timed.sustained, own, others)


def contradictory_rounds(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence for each figure of a point of a sweep that contradicts its own rounds.

    One process timed the point, and its raw samples are not kept.
    """
    timed = evaluation.performance
    if timed is None:
        return
    medians = list(timed.rounds_us)
    if len(medians) < LEAST_POINT_ROUNDS:
        yield f"it has {len(medians)} rounds; {LEAST_POINT_ROUNDS} are the least"
        return
    yield from _figures(timed, medians, Samples((), (len(medians),)))
    if timed.min_us > min(medians) * (1 + CLOSE) + CLOSE_US:
        yield f"min_us is {timed.min_us:.6g}, and a round has a lower median"
    if not timed.min_us <= timed.p20_us <= timed.p80_us:
        yield "min_us, p20_us and p80_us are not in ascending order"


def _of_sustained(timed: Sustained, own: Samples, others: dict[str, Samples]) -> Iterator[str]:
    if not own.sustained:
        yield "the record has sustained times, and its samples have none"
        return
    yield from _figures(timed, own.sustained_medians, own)
    yield from _differs("samples", timed.samples, sum(map(len, own.sustained)))
    yield from _cycles(timed, own.sustained_medians, own.sustained_clocks, own)
    for ratio in timed.ratios:
        if ratio.baseline in others:
            yield from _ratio(ratio, others[ratio.baseline].sustained_medians, own.sustained_medians, own)


def _figures(timed: Performance | Sustained, medians: list[float], own: Samples) -> Iterator[str]:
    """Yield the contradictions in figures that bursts and sustained times have in common."""
    yield from _differs("median_us", timed.median_us, fmean(_by_generation(medians, own)))
    yield from _all_differ("rounds_us", timed.rounds_us, medians)
    for name, bound in (("low_us", timed.low_us), ("high_us", timed.high_us)):
        if not min(medians) * (1 - CLOSE) - CLOSE_US <= bound <= max(medians) * (1 + CLOSE) + CLOSE_US:
            yield f"{name} is {bound:.6g}, and no round is so far from the median"


def _cycles(timed: Performance | Sustained, medians: list[float], clocks: Clocks, own: Samples) -> Iterator[str]:
    """Yield the contradiction in the SM cycles of a call, from which its share of the ceiling comes."""
    if timed.cycles is None:
        return
    known = [clock for clock in clocks if clock and 0 < clock < MOST_MHZ]
    if len(known) != len(medians):
        yield "the record has SM cycles, and its samples lack the clock of a round"
        return
    cycles = [us * clock for us, clock in zip(medians, known, strict=True)]
    yield from _differs("cycles", timed.cycles, fmean(_by_generation(cycles, own)))


def _ratio(ratio: Ratio, theirs: list[float], ours: list[float], own: Samples) -> Iterator[str]:
    if len(theirs) != len(ours):
        yield f"the ratio to {ratio.baseline} is of rounds that are not the same"
        return
    by_process = _by_generation([b / t for b, t in zip(theirs, ours, strict=True)], own)
    yield from _differs(f"the ratio to {ratio.baseline}", ratio.value, fmean(by_process))
    if ratio.by_process:
        yield from _all_differ(f"by_process of the ratio to {ratio.baseline}", ratio.by_process, by_process)


def _by_generation(values: list[float], own: Samples) -> list[float]:
    """Return the median of each generation."""
    medians, at = [], 0
    for size in own.generations:
        medians.append(_median(sorted(values[at : at + size])))
        at += size
    return medians


def _all_differ(name: str, stored: Sequence[float], given: Sequence[float]) -> Iterator[str]:
    if len(stored) != len(given):
        yield f"{name} has {len(stored)} values, and the samples give {len(given)}"
        return
    for a, b in zip(stored, given, strict=True):
        if abs(a - b) > CLOSE * b + CLOSE_US:
            yield from _differs(name, a, b)
            return


def _differs(name: str, stored: float, given: float) -> Iterator[str]:
    if abs(stored - given) > CLOSE * given + CLOSE_US:
        yield f"{name} is {stored:.6g}, and the samples give {given:.6g}"


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _quantile_differs(name: str, stored: float, share: float, rounds: Rounds) -> Iterator[str]:
    """Yield a sentence when a stored quantile has too many samples below or above it.

    Counting the samples in the sorted rounds takes a tenth of the time of sorting them all.
    """
    at = share * (sum(map(len, rounds)) - 1)
    slack = CLOSE * stored + CLOSE_US
    below = sum(bisect_left(one, stored - slack) for one in rounds)
    not_above = sum(bisect_right(one, stored + slack) for one in rounds)
    if below > at + 1 or not_above < at:
        yield f"{name} is {stored:.6g}, and the samples give another"
