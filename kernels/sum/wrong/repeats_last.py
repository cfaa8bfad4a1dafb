"""Wrong: instead of masking the tail it reads the last element again and again, and adds it each time."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_row(x, total, N, BLOCK: tl.constexpr):
    i = tl.minimum(tl.arange(0, BLOCK), N - 1)
    tl.store(total, tl.sum(tl.load(x + i).to(tl.float32), axis=0))


def sum(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty(1, dtype=x.dtype, device=x.device) if out is None else out
    sum_row[(1,)](x, out, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
    return out
