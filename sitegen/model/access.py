"""Compute what the memory system moves for the addresses of a warp's lanes: sectors, lines, banks, passes.

An access of more than 4 bytes a lane is served in phases of 128 bytes: two half-warps at 8 bytes, four quarter-warps
at 16.  Sources: CUDA C++ Programming Guide, global and shared memory of each compute capability; for phases in shared
memory GTC 2019, S9593 (CUTLASS), and the NVIDIA forum on `float4`: conflicts count within a phase, not within a warp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LANES = 32
SECTOR = 32
"""Bytes of a sector, which is the least that global memory moves."""
LINE = 128
"""Bytes of a cache line: four sectors."""
WORD = 4
"""Bytes that a bank of shared memory delivers in a pass."""
BANKS = 32
WIDTHS = (1, 2, 4, 8, 16)
"""Numbers of bytes that one lane can request."""


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store instruction of a warp."""

    addresses: tuple[int, ...]
    """Byte address of each lane; each is a multiple of `width`."""
    width: int
    """Bytes that each lane requests."""

    @property
    def phases(self) -> tuple[range, ...]:
        """Groups of lanes that are served together."""
        lanes = min(LANES, LINE // self.width)
        return tuple(range(first, first + lanes) for first in range(0, LANES, lanes))

    def blocks(self, size: int) -> tuple[int, ...]:
        """Return the numbers of the aligned blocks of `size` bytes that the access touches."""
        return tuple(sorted({n for a in self.addresses for n in range(a // size, (a + self.width - 1) // size + 1)}))

    @property
    def sectors(self) -> tuple[int, ...]:
        """Numbers of the sectors that the access touches."""
        return self.blocks(SECTOR)

    @property
    def bytes_asked(self) -> int:
        """Number of different bytes requested: a byte that several lanes request counts once."""
        return len(set(self.addresses)) * self.width

    @property
    def bytes_moved(self) -> int:
        """Bytes of all sectors that the access touches."""
        return len(self.sectors) * SECTOR

    @property
    def efficiency(self) -> float:
        """Bytes requested over bytes of the sectors moved, at most 1."""
        return self.bytes_asked / self.bytes_moved

    def words(self, lanes: range = range(LANES)) -> Mapping[int, tuple[int, ...]]:
        """Map the number of each word of 4 bytes to the lanes, of those given, that request a part of it."""
        lanes_of_word: dict[int, list[int]] = {}
        for lane in lanes:
            start = self.addresses[lane]
            for word in range(start // WORD, (start + self.width - 1) // WORD + 1):
                lanes_of_word.setdefault(word, []).append(lane)
        return {word: tuple(asking) for word, asking in sorted(lanes_of_word.items())}

    def banks(self, phase: range) -> Mapping[int, tuple[int, ...]]:
        """Map each bank of shared memory to the words that a phase requests from it.

        A word that several lanes request is listed once.
        """
        words_of_bank: dict[int, list[int]] = {}
        for word in self.words(phase):
            words_of_bank.setdefault(word % BANKS, []).append(word)
        return {bank: tuple(words) for bank, words in sorted(words_of_bank.items())}

    def degree(self, phase: range) -> int:
        """Return the number of passes of a phase: 1 without a bank conflict, n for an n-way conflict."""
        return max(map(len, self.banks(phase).values()))

    @property
    def passes(self) -> int:
        """Passes of all phases together."""
        return sum(map(self.degree, self.phases))
