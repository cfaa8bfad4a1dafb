"""Wrong: instead of masking the tail it reads the last element again and again, and adds it each time."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_row(x, total, N, BLOCK: tl.constexpr):
    lanes = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        i = tl.minimum(start + tl.arange(0, BLOCK), N - 1)
        lanes += tl.load(x + i).to(tl.float32)
    tl.store(total, tl.sum(lanes, axis=0))


def sum(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty(1, dtype=x.dtype, device=x.device) if out is None else out
    sum_row[(1,)](x, out, x.numel(), BLOCK=1024)
    return out
