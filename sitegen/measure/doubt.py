"""What the site's record says and what a race saw → whether more processes must time it.

Each process has its luck.  On an H200 a sum of 65 µs differs by 0.1 to 0.4 % (standard deviation) from process to
process, and stays what it is in each of them, however its memory is laid out and however many of its calls share two
events: so the figure of three is off by 0.1 to 0.2 %.  Where they disagree that much, two more time it, unless somebody
else is far faster: programs that spill registers differ by up to 3 % between processes, and nobody chooses among those.

So they do where a change is near the threshold: two records of such processes differ by 0.2 % for no reason, and a true
change of 0.5 % would pass for one of more than 1 %.  Everybody is timed again then, since rounds must stay pairs, and
the figure is the mean of all.  What lies far from the threshold, either way, is settled.  tests/measure/test_doubt.py
simulates how often a verdict is wrong then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, stdev

from sitegen.measure.rounds import Race, times
from sitegen.measure.statistics import ratio_of, round_medians
from sitegen.model.job import PreviousRatios

NEAR = (0.6, 1.4)
"""Changes between these many thresholds are in doubt.  The same code comes there by chance in one case of a hundred."""
AGREED, LONG_US = 0.002, 50.0
"""Standard error of the mean of all processes, relative, up to which they agree.  What is shorter than LONG_US is
mostly latency, which differs by more than that wherever it is measured."""
RIVAL = 1.5
"""Who takes more than so many times as long as the fastest need not agree with itself."""
MOST_GENERATIONS = 5
"""What is in doubt then stays so: the older record's own noise is the larger part."""


def in_doubt(
    race: Race, judged: Iterable[str], previous: Mapping[str, PreviousRatios], baselines: Sequence[str]
) -> bool:
    """Whether the processes of a rival disagree, among those who are judged, or anybody's change against the record may
    turn out on either side of the threshold."""
    if race.generations >= MOST_GENERATIONS:
        return False
    seen = {name: _by_process(race, name) for name in judged if name in race.turns}
    fastest_us = min(map(fmean, seen.values()), default=0.0)
    if any(_disagree(us) for us in seen.values() if fmean(us) <= RIVAL * fastest_us):
        return True
    return any(_near(race, name, one, baselines) for name, one in previous.items() if name in race.turns)


def _by_process(race: Race, name: str) -> list[float]:
    return [median(round_medians(rounds)) for rounds in times(race.turns[name], race.generations)]


def _disagree(seen: Sequence[float]) -> bool:
    return fmean(seen) > LONG_US and stdev(seen) / len(seen) ** 0.5 > AGREED * fmean(seen)


def _near(race: Race, name: str, one: PreviousRatios, baselines: Sequence[str]) -> bool:
    """By the first baseline that both have; without one nothing can be said."""
    baseline = next((b for b in baselines if b in one.ratios and b in race.turns), None)
    if baseline is None:
        return False
    own, theirs = (times(race.turns[who], race.generations) for who in (name, baseline))
    return is_near(ratio_of(theirs, own), one.ratios[baseline], one.threshold)


def is_near(ratio: float, before: float, threshold: float) -> bool:
    low, high = NEAR
    return low * threshold < abs(ratio / before - 1) < high * threshold
