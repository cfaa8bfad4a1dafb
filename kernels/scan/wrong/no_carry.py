"""Wrong: begins each tile with 0, so that only the first tile is right."""

import torch
import triton
import triton.language as tl

TILE = 1024


@triton.jit
def scan_tile(x, y, N, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.cumsum(tl.load(x + i, mask=i < N, other=0.0), axis=0), mask=i < N)


def scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    scan_tile[(triton.cdiv(x.numel(), TILE),)](x, out, x.numel(), TILE=TILE)
    return out
