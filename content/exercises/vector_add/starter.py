"""Add two vectors: fill in the two lines that are marked."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_block(a, b, c, N, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)  # 1. this is the first block: make it the block of this program
    inside = i >= 0  # 2. true for every place: make it true only where i is less than N
    total = tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside)
    tl.store(c + i, total, mask=inside)


def vector_add(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a + b; the check gives `out`, into which the kernel must write."""
    out = torch.empty_like(a) if out is None else out
    add_block[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
    return out
