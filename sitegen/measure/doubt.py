"""What the site's record says and what a race saw → whether more processes must time it.

Each process has its luck (where its memory lies): a ratio of softmax is off by 0.2 % in one process, so by 0.15 % in a
record of two.  Two such records differ by 0.2 % for no reason, and a true change of 0.5 % then passes for one beyond a
threshold of 1 % more than once in a hundred times.  So a change near the threshold is timed by further generations, of
everybody, since rounds must stay pairs, and the figure is the mean of all.  What lies far from the threshold, either
way, is settled by two.  tests/measure/test_doubt.py simulates how often a verdict is wrong then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sitegen.measure.rounds import Race, times
from sitegen.measure.statistics import ratio_of
from sitegen.model.job import Previous

NEAR = (0.6, 1.4)
"""Changes between these many thresholds are in doubt.  The same code comes there by chance in one case of a hundred."""
MOST_GENERATIONS = 6
"""What is in doubt then stays so: the older record's own noise is the larger part."""


def in_doubt(race: Race, previous: Mapping[str, Previous], baselines: Sequence[str]) -> bool:
    """Whether anybody's change against the record may turn out on either side of the threshold."""
    if race.generations >= MOST_GENERATIONS:
        return False
    return any(_near(race, name, one, baselines) for name, one in previous.items() if name in race.turns)


def _near(race: Race, name: str, one: Previous, baselines: Sequence[str]) -> bool:
    """By the first baseline that both have; without one nothing can be said."""
    baseline = next((b for b in baselines if b in one.ratios and b in race.turns), None)
    if baseline is None:
        return False
    own, theirs = (times(race.turns[who], race.generations) for who in (name, baseline))
    return is_near(ratio_of(theirs, own), one.ratios[baseline], one.threshold)


def is_near(ratio: float, before: float, threshold: float) -> bool:
    low, high = NEAR
    return low * threshold < abs(ratio / before - 1) < high * threshold
