"""Multiply two matrices: the results are right, but each program computes one row; let it compute a tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_row(a, b, c, M, N, K, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([COLUMNS], tl.float32)
    for start in range(0, K, DEPTH):
        k = start + tl.arange(0, DEPTH)
        part_a = tl.load(a + row * K + k, mask=k < K, other=0.0)
        inside = (k[:, None] < K) & (columns[None, :] < N)
        part_b = tl.load(b + k[:, None] * N + columns[None, :], mask=inside, other=0.0)
        total += tl.sum(part_a[:, None] * part_b, axis=0)
    tl.store(c + row * N + columns, total, mask=columns < N)


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a @ b; the check gives `out`, into which the kernel must write."""
    (M, K), N = a.shape, b.shape[1]
    out = a.new_empty(M, N) if out is None else out
    matmul_row[(M, triton.cdiv(N, 512))](a, b, out, M, N, K, COLUMNS=512, DEPTH=32, num_warps=8)
    return out
