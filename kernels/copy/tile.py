"""A copy in Triton: a program moves one tile, and the compiler chooses the width of its loads.

Eight 16-byte loads a thread before the first store when N is a multiple of 16; 2·N elements in all.
"""

import torch
import triton
import triton.language as tl


# region: kernel
@triton.jit
def copy_tile(x, y, N, TILE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.load(x + i, mask=i < N), mask=i < N)


# endregion


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy of a contiguous tensor of N elements."""
    out = torch.empty_like(x) if out is None else out
    tile = 16384 // x.element_size()  # 16 KB: 128 threads with 8 loads of 16 bytes each
    copy_tile[(triton.cdiv(x.numel(), tile),)](x, out, x.numel(), TILE=tile, num_warps=4)
    return out
