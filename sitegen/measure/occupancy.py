"""What a block takes of an SM → how many of its warps the SM holds at a time.

Limits: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability".
How they are used up, as in Nsight Compute's occupancy calculator: registers are given to each warp in units of 256,
by the quarter of the SM that runs it; shared memory to each block in units of 128 bytes, with 1 KB for the driver.

Left out, because no kernel of ours comes near them: named barriers (64 an SM on sm_90; 24 on sm_89), and the share of
SMs that a cluster cannot fill, which differs from one die to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
MOST_THREADS = 1024
"""Of one block."""
REGISTERS = 65536
"""Of an SM, and the most of one block."""
RESERVED_SHARED = 1024
"""Bytes of each block's shared memory that are the driver's own, since sm_80."""
_QUARTERS, _REGISTER_UNIT, _SHARED_UNIT = 4, 256, 128
_KB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one SM."""

    warps: int
    blocks: int
    shared_bytes: int


LIMITS = {
    "80": Limits(64, 32, 164 * _KB),
    "86": Limits(48, 16, 100 * _KB),
    "89": Limits(48, 24, 100 * _KB),
    "90": Limits(64, 32, 228 * _KB),
    "100": Limits(64, 32, 228 * _KB),
    "120": Limits(48, 24, 100 * _KB),
}
"""By compute capability."""


def limits_of(arch: str) -> Limits | None:
    """Of `sm_90` or `sm_90a`; None for an architecture that we do not know."""
    return LIMITS.get(number_of(arch))


def number_of(arch: str) -> str:
    """`sm_90a` → `90`."""
    return arch.removeprefix("sm_").rstrip("af")


def occupancy(limits: Limits, registers: int, threads: int, shared_bytes: int) -> float:
    """Warps of a kernel on an SM, as a share of those that it could hold.

    `registers` are those of a thread, `threads` and `shared_bytes` (static and dynamic) those of a block.
    """
    return resident_blocks(limits, registers, threads, shared_bytes) * _warps(threads) / limits.warps


def resident_blocks(limits: Limits, registers: int, threads: int, shared_bytes: int) -> int:
    """Blocks of a kernel on an SM at a time: what `cuOccupancyMaxActiveBlocksPerMultiprocessor` says."""
    if not 0 < threads <= MOST_THREADS:
        return 0
    return min(
        limits.blocks,
        limits.warps // _warps(threads),
        _by_registers(registers, _warps(threads)),
        limits.shared_bytes // _rounded(shared_bytes + RESERVED_SHARED, _SHARED_UNIT),
    )


def _by_registers(registers: int, warps: int) -> int:
    """A block must fit as if each quarter ran equally many of its warps; then each quarter is filled by itself."""
    of_a_warp = _rounded(max(1, registers) * WARP, _REGISTER_UNIT)
    if of_a_warp * _rounded(warps, _QUARTERS) > REGISTERS:
        return 0
    return REGISTERS // _QUARTERS // of_a_warp * _QUARTERS // warps


def _warps(threads: int) -> int:
    return -(-threads // WARP)


def _rounded(value: int, unit: int) -> int:
    """Up to a multiple of the unit."""
    return -(-value // unit) * unit
