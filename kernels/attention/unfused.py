"""Attention as its formula reads: three kernels, with the scores and the weights in memory between them.

`scores` writes q kᵀ / √128, `weights` makes each row of it a softmax, and `values` multiplies the weights by v.  The
scores are T x T numbers for each head, 8.6 GB in float32 at the workload, and the weights are as many in bfloat16.
With a causal mask half of the scores are thrown away after they were computed.
"""

import torch
import triton
import triton.language as tl

ROWS, COLUMNS, DEPTH = 128, 128, 64
WIDTH = 128


# region: kernels
@triton.jit
def scores(q, k, s, T, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(2).to(tl.int64) * T
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[:, None]
    d = tl.arange(0, WIDTH)[None, :]
    queries = tl.load(q + (head + row) * WIDTH + d, mask=row < T, other=0.0)
    keys = tl.load(k + (head + column) * WIDTH + d, mask=column < T, other=0.0)
    products = tl.dot(queries, tl.trans(keys)) * scale
    column = tl.trans(column)
    if CAUSAL:
        products = tl.where(column <= row, products, -float("inf"))
    tl.store(s + (head + row) * T + column, products, mask=(row < T) & (column < T))


@triton.jit
def weights(s, p, T, lines, LINES: tl.constexpr, BLOCK: tl.constexpr):
    line = tl.program_id(0).to(tl.int64) * LINES + tl.arange(0, LINES)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (line < lines) & (column < T)
    numbers = tl.load(s + line * T + column, mask=inside, other=-float("inf"))
    powers = tl.exp(numbers - tl.max(numbers, axis=1)[:, None])
    tl.store(p + line * T + column, powers / tl.sum(powers, axis=1)[:, None], mask=inside)


@triton.jit
def values(p, v, o, T, ROWS: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    d = tl.arange(0, WIDTH)[None, :]
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    for start in range(0, T, DEPTH):
        key = start + tl.arange(0, DEPTH)
        ours = tl.load(p + (head + row) * T + key[None, :], mask=(row < T) & (key[None, :] < T), other=0.0)
        theirs = tl.load(v + (head + key[:, None]) * WIDTH + d, mask=key[:, None] < T, other=0.0)
        sums = tl.dot(ours, theirs, sums)
    tl.store(o + (head + row) * WIDTH + d, sums.to(o.dtype.element_ty), mask=row < T)


# endregion


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Attention of contiguous (B, H, T, 128) tensors."""
    B, H, T, _ = q.shape
    out = torch.empty_like(q) if out is None else out
    s = torch.empty(B * H, T, T, dtype=torch.float32, device=q.device)
    p = torch.empty(B * H, T, T, dtype=q.dtype, device=q.device)
    tiles = triton.cdiv(T, ROWS)
    scores[(tiles, triton.cdiv(T, COLUMNS), B * H)](
        q, k, s, T, WIDTH**-0.5, CAUSAL=causal, ROWS=ROWS, COLUMNS=COLUMNS, WIDTH=WIDTH, num_warps=8
    )
    block = triton.next_power_of_2(T)
    lines = max(1, 8192 // block)  # of the scores in a program, which holds 8192 of them
    weights[(triton.cdiv(B * H * T, lines),)](s, p, T, B * H * T, LINES=lines, BLOCK=block, num_warps=8)
    values[(tiles, B * H)](p, v, out, T, ROWS=ROWS, DEPTH=DEPTH, WIDTH=WIDTH, num_warps=8, num_stages=3)
    return out
