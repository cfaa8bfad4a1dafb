"""Softmax of each row: make it right for every row length and for large numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0) * N
    columns = tl.arange(0, BLOCK)
    powers = tl.exp(tl.load(x + row + columns))
    tl.store(y + row + columns, powers / tl.sum(powers, axis=0), mask=columns < N)


def softmax(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the softmax of each row; the check gives `out`, into which the kernel must write."""
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    softmax_row[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out
