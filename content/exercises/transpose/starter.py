"""Transpose a matrix: the results are right, but each program moves one row; let it move a tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_row(x, y, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < N
    numbers = tl.load(x + row * N + columns, mask=inside)
    tl.store(y + columns * M + row, numbers, mask=inside)


def transpose(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the (N, M) transpose of x; the check gives `out`, into which the kernel must write."""
    M, N = x.shape
    out = x.new_empty(N, M) if out is None else out
    transpose_row[(M, triton.cdiv(N, 1024))](x, out, M, N, BLOCK=1024)
    return out
