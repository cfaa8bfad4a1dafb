"""Add all numbers of a vector: every program stores its sum into the same place."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_block(x, total, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(total, tl.sum(tl.load(x + i), axis=0))


def sum(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the sum as a tensor of one number; the check gives `out`, into which the kernel must write."""
    out = torch.empty(1, dtype=x.dtype, device=x.device) if out is None else out
    sum_block[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
    return out
