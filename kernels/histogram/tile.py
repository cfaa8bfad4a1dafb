"""A histogram in Triton: `tl.histogram` counts a tile, and a program adds up its tiles.

N numbers are read once.  `tl.histogram` gives 256 counts for each tile, which the program adds to its own in registers.
At its end it adds them to the output, which a launch before has cleared.
The compiler does not count with one addition for each number.  A warp votes on each bit of 32 numbers, and each lane
finds out from the votes how many of the 32 have the values that it counts.  It adds these counts to shared memory once
a tile.  That needs many more instructions than `vectorised`.  Eight lanes meet in a bank in each addition, but a warp
makes only eight additions for 1024 numbers.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 132 * 4  # four for each SM of an H200
TILE = 8192
VALUES = 256


# region: kernel
@triton.jit
def count_tiles(x, counts, N, TILE: tl.constexpr, VALUES: tl.constexpr):
    total = tl.zeros([VALUES], tl.int32)
    first = tl.program_id(0).to(tl.int64) * TILE
    for start in range(first, N, tl.num_programs(0) * TILE):
        i = start + tl.arange(0, TILE)
        values = tl.load(x + i, mask=i < N, other=0).to(tl.int32)
        total += tl.histogram(values, VALUES, mask=i < N)
    tl.atomic_add(counts + tl.arange(0, VALUES), total, sem="relaxed")


# endregion


def histogram(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return how often each value from 0 to 255 occurs in a contiguous tensor of N integers, in int32."""
    out = torch.empty(VALUES, dtype=torch.int32, device=x.device) if out is None else out
    programs = min(PROGRAMS, triton.cdiv(x.numel(), TILE))
    out.zero_()
    count_tiles[(programs,)](x, out, x.numel(), TILE=TILE, VALUES=VALUES, num_warps=8)
    return out
