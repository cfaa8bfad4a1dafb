"""Wrong: the number of programs is rounded down, so the last part of a tile is never written."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_tile(x, y, N, TILE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.load(x + i, mask=i < N), mask=i < N)


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    copy_tile[(max(1, x.numel() // 1024),)](x, out, x.numel(), TILE=1024)
    return out
