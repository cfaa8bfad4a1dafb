"""Find the addresses that are close to one that leads nowhere, for a hint: addresses in, a few of them out.

A comparison letter by letter of one address with thousands takes a tenth of a second, and an imported site has
thousands of dead links.  So the addresses are found by the pairs of letters that they share, and only the best are
compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

MOST = 40
"""Most addresses that are compared letter by letter."""
OFTEN = 8
"""A pair of letters in more than one of so many addresses, such as those of `/posts/`, tells nothing."""


@dataclass(frozen=True, slots=True)
class NearAddresses:
    """Addresses by the pairs of letters in them."""

    names: Sequence[str]
    by_pair: Mapping[str, Sequence[int]]
    """The places in `names` of those that contain two letters in a row; pairs that are in many names are left out."""

    def near(self, word: str) -> list[str]:
        """Return the names that share the most pairs of letters with a word, for their length."""
        if len(self.names) <= MOST:
            return list(self.names)
        shared = Counter(at for pair in _pairs(word) for at in self.by_pair.get(pair, ()))
        best = nsmallest(MOST, shared, key=lambda at: (-shared[at] / (len(word) + len(self.names[at])), at))
        return [self.names[at] for at in best]


def near_addresses(names: Iterable[str]) -> NearAddresses:
    """Return the index of these names."""
    known, by_pair = sorted(set(names)), defaultdict[str, list[int]](list)
    for at, name in enumerate(known):
        for pair in _pairs(name):
            by_pair[pair].append(at)
    many = max(MOST, len(known) // OFTEN)
    return NearAddresses(known, {pair: places for pair, places in by_pair.items() if len(places) <= many})


def _pairs(word: str) -> set[str]:
    return {word[at : at + 2] for at in range(len(word) - 1)}
