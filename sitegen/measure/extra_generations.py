"""The turns so far and the site's record → whether two more generations of processes must time the job.

Two reasons ask for more processes.

The processes disagree.  On an H200 the time of a sum of 65 µs differs by 0.1 to 0.4 % (standard deviation) between
processes.  It stays the same within each process, however its memory is laid out and however many of its calls share
two events.  The mean of three processes is therefore uncertain by 0.1 to 0.2 %.  Where the processes disagree by that
much, two more generations follow.  Implementations that are slower than the fastest by more than a tenth do not count:
code that spills registers differs by up to 3 % between processes, and nobody chooses between two of them.

The change against the record is near the threshold.  Two records of three processes differ by 0.2 % by chance, so a
true change of 0.5 % could pass for one of more than 1 %.  All evaluations are then timed again, because rounds must
stay pairs, and the figure is the mean of all generations.  A change far from the threshold needs no more processes.
tests/measure/test_extra_generations.py simulates how often a verdict is wrong then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, stdev

from sitegen.measure.rounds import Timings, times
from sitegen.measure.statistics import ratio_of, round_medians
from sitegen.model.job import PreviousRatios

NEAR = (0.6, 1.4)
"""A change is near the threshold when it is this many thresholds large.  The same code comes there by chance in one
case of a hundred."""
AGREED, LONG_US = 0.002, 50.0
"""Processes agree when the standard error of their mean is at most this, relative.  Calls up to LONG_US are not judged:
they are mostly latency, which differs by more than that in every measurement."""
JUDGED_WITHIN = 1.1
"""The stop rule ignores disagreement between the processes of an implementation that takes more than so many times as
long as the fastest."""
MOST_GENERATIONS = 5
"""More generations do not help: the noise of the older record is then the larger part."""


def needs_more_generations(
    timings: Timings, judged: Iterable[str], previous: Mapping[str, PreviousRatios], baselines: Sequence[str]
) -> bool:
    """Return whether processes of a judged implementation disagree, or a change is near the threshold.

    `judged` are the names of the implementations, `previous` holds what the record says of them, and `baselines` are
    those of the kernel in order.
    """
    if timings.generations >= MOST_GENERATIONS:
        return False
    by_process = {name: _process_medians(timings, name) for name in judged if name in timings.turns}
    fastest_us = min(map(fmean, by_process.values()), default=0.0)
    if any(_disagree(us) for us in by_process.values() if fmean(us) <= JUDGED_WITHIN * fastest_us):
        return True
    return any(
        _is_change_near_threshold(timings, name, recorded, baselines)
        for name, recorded in previous.items()
        if name in timings.turns
    )


def is_near(ratio: float, before: float, threshold: float) -> bool:
    """Return whether the relative change of a ratio is near the threshold."""
    low, high = NEAR
    return low * threshold < abs(ratio / before - 1) < high * threshold


def _process_medians(timings: Timings, name: str) -> list[float]:
    """Return the median of the round medians of each process, in microseconds."""
    return [median(round_medians(rounds)) for rounds in times(timings.turns[name], timings.generations)]


def _disagree(process_us: Sequence[float]) -> bool:
    mean_us = fmean(process_us)
    return mean_us > LONG_US and stdev(process_us) / len(process_us) ** 0.5 > AGREED * mean_us


def _is_change_near_threshold(timings: Timings, name: str, recorded: PreviousRatios, baselines: Sequence[str]) -> bool:
    """Compare the ratios to the first baseline that both have; without one nothing can be compared."""
    baseline = next((b for b in baselines if b in recorded.ratios and b in timings.turns), None)
    if baseline is None:
        return False
    own, theirs = (times(timings.turns[one], timings.generations) for one in (name, baseline))
    return is_near(ratio_of(theirs, own), recorded.ratios[baseline], recorded.threshold)
