"""The addresses of a warp's lanes → what the memory system moves for them: sectors, lines, banks, passes.

An access of more than 4 bytes a lane is served in phases of 128 bytes: two half-warps at 8 bytes, four quarter-warps
at 16.  Sources: CUDA C++ Programming Guide, global and shared memory of each compute capability; for phases in shared
memory GTC 2019, S9593 (CUTLASS), and the NVIDIA forum on `float4`: conflicts count within a phase, not within a warp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LANES = 32
SECTOR = 32
"""Bytes that global memory moves at once."""
LINE = 128
"""Bytes of a cache line: four sectors."""
WORD = 4
"""Bytes that a bank of shared memory gives in a pass."""
BANKS = 32
WIDTHS = (1, 2, 4, 8, 16)
"""Bytes that one lane can ask for."""


@dataclass(frozen=True, slots=True)
class Access:
    addresses: tuple[int, ...]
    """In bytes, by lane; each a multiple of `width`."""
    width: int
    """Bytes of each lane."""

    @property
    def phases(self) -> tuple[range, ...]:
        """Lanes that are served together."""
        lanes = min(LANES, LINE // self.width)
        return tuple(range(first, first + lanes) for first in range(0, LANES, lanes))

    def blocks(self, size: int) -> tuple[int, ...]:
        """The numbers of the aligned blocks of `size` bytes that hold any of it."""
        return tuple(sorted({n for a in self.addresses for n in range(a // size, (a + self.width - 1) // size + 1)}))

    @property
    def sectors(self) -> tuple[int, ...]:
        return self.blocks(SECTOR)

    @property
    def bytes_asked(self) -> int:
        """Each byte once, however many lanes ask for it."""
        return len(set(self.addresses)) * self.width

    @property
    def bytes_moved(self) -> int:
        return len(self.sectors) * SECTOR

    @property
    def efficiency(self) -> float:
        """Bytes asked for over bytes of the sectors moved, at most 1."""
        return self.bytes_asked / self.bytes_moved

    def words(self, lanes: range = range(LANES)) -> Mapping[int, tuple[int, ...]]:
        """By number of a word of 4 bytes, those of `lanes` that ask for any of it."""
        found: dict[int, list[int]] = {}
        for lane in lanes:
            start = self.addresses[lane]
            for word in range(start // WORD, (start + self.width - 1) // WORD + 1):
                found.setdefault(word, []).append(lane)
        return {word: tuple(asking) for word, asking in sorted(found.items())}

    def banks(self, phase: range) -> Mapping[int, tuple[int, ...]]:
        """By bank of shared memory the different words that a phase asks of it; a word for several lanes is one."""
        found: dict[int, list[int]] = {}
        for word in self.words(phase):
            found.setdefault(word % BANKS, []).append(word)
        return {bank: tuple(words) for bank, words in sorted(found.items())}

    def degree(self, phase: range) -> int:
        """The passes of a phase: 1 without a conflict, n for an n-way conflict."""
        return max(map(len, self.banks(phase).values()))

    @property
    def passes(self) -> int:
        return sum(map(self.degree, self.phases))
