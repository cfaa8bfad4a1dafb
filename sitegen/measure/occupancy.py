"""Registers, threads and shared memory of a block → how many of its warps an SM holds at a time.

SmLimits: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability".
Allocation is as in Nsight Compute's occupancy calculator.  A quarter of the SM gives registers to each of its warps in
units of 256.  The SM gives shared memory to each block in units of 128 bytes, with 1 KB for the driver.

Two limits are left out because no kernel here comes near them: named barriers (64 on an SM of sm_90, 24 of sm_89), and
the share of SMs that a cluster cannot fill, which differs between dies.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
MOST_THREADS = 1024
"""The most threads of one block."""
REGISTERS = 65536
"""Registers of an SM, which one block may use alone."""
RESERVED_SHARED = 1024
"""Bytes of each block's shared memory that the driver uses, since sm_80."""
_QUARTERS, _REGISTER_UNIT, _SHARED_UNIT = 4, 256, 128
_KB = 1024


@dataclass(frozen=True, slots=True)
class SmLimits:
    """Limits of one SM."""

    warps: int
    blocks: int
    shared_bytes: int


LIMITS = {
    "80": SmLimits(64, 32, 164 * _KB),
    "86": SmLimits(48, 16, 100 * _KB),
    "89": SmLimits(48, 24, 100 * _KB),
    "90": SmLimits(64, 32, 228 * _KB),
    "100": SmLimits(64, 32, 228 * _KB),
    "120": SmLimits(48, 24, 100 * _KB),
}
"""Limits by compute capability."""


def limits_of(arch: str) -> SmLimits | None:
    """Return the limits of an SM of `sm_90` or `sm_90a`; None for an architecture that is not known here."""
    return LIMITS.get(number_of(arch))


def number_of(arch: str) -> str:
    """Return the number of an architecture: `90` for `sm_90a`."""
    return arch.removeprefix("sm_").rstrip("af")


def occupancy(limits: SmLimits, registers: int, threads: int, shared_bytes: int) -> float:
    """Return the warps of a kernel on an SM, as a share of those that the SM could hold.

    `registers` are those of a thread, `threads` and `shared_bytes` (static and dynamic) those of a block.
    """
    return resident_blocks(limits, registers, threads, shared_bytes) * _warps(threads) / limits.warps


def resident_blocks(limits: SmLimits, registers: int, threads: int, shared_bytes: int) -> int:
    """Return the blocks of a kernel on an SM at a time, as `cuOccupancyMaxActiveBlocksPerMultiprocessor` does."""
    if not 0 < threads <= MOST_THREADS:
        return 0
    return min(
        limits.blocks,
        limits.warps // _warps(threads),
        _by_registers(registers, _warps(threads)),
        limits.shared_bytes // _rounded(shared_bytes + RESERVED_SHARED, _SHARED_UNIT),
    )


def _by_registers(registers: int, warps: int) -> int:
    """Return the blocks for which the registers suffice.

    A block must fit with equally many warps in each quarter of the SM; then each quarter is filled by itself.
    """
    of_a_warp = _rounded(max(1, registers) * WARP, _REGISTER_UNIT)
    if of_a_warp * _rounded(warps, _QUARTERS) > REGISTERS:
        return 0
    return REGISTERS // _QUARTERS // of_a_warp * _QUARTERS // warps


def _warps(threads: int) -> int:
    return -(-threads // WARP)


def _rounded(value: int, unit: int) -> int:
    """Return the value rounded up to a multiple of the unit."""
    return -(-value // unit) * unit
