"""Copy a vector: this kernel is right.  Run `python check.py` to see whether your machine runs it."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_block(x, y, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # the block of this program
    inside = i < N  # the last block may reach past the end
    tl.store(y + i, tl.load(x + i, mask=inside), mask=inside)


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a copy of x; the check gives `out`, into which the kernel must write."""
    out = torch.empty_like(x) if out is None else out
    copy_block[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
