"""Wrong: keeps the sum of the tiles before in bfloat16.  Right while that sum is a small whole number."""

import torch
import triton
import triton.language as tl

TILE = 1024


@triton.jit
def scan_row(x, y, N, TILE: tl.constexpr):
    before = 0.0
    for start in range(0, N, TILE):
        i = start + tl.arange(0, TILE)
        values = tl.load(x + i, mask=i < N, other=0.0)
        tl.store(y + i, before + tl.cumsum(values, axis=0), mask=i < N)
        before = (before + tl.sum(values, axis=0)).to(tl.bfloat16).to(tl.float32)


def scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    scan_row[(1,)](x, out, x.numel(), TILE=TILE)
    return out
