"""The gradients of attention in Triton, with a kernel for dk and dv and another one for dq.

A program of the first takes 64 keys and passes over the queries; one of the second takes 64 queries and passes over the
keys.  So no two programs add to the same sums, and the result is the same in every run.  The price: both compute the
scores and dP, so that there are seven products instead of five.
A third kernel computes delta first, the sum of o times do of each query.
"""

import torch
import triton
import triton.language as tl

ROWS, WIDTH = 64, 128
LOG2E = tl.constexpr(1.4426950408889634)


# region: kernels
@triton.jit
def deltas(o, do, delta, rows, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None].to(tl.int64) * WIDTH + tl.arange(0, WIDTH)[None, :]
    inside = row[:, None] < rows
    products = tl.load(o + at, mask=inside, other=0.0).to(tl.float32) * tl.load(do + at, mask=inside, other=0.0)
    tl.store(delta + row, tl.sum(products, axis=1), mask=row < rows)


@triton.jit
def tile(rows, first, head, T, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    line = first + tl.arange(0, ROWS)
    at = (head * T + line)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    return tl.load(rows + at, mask=line[:, None] < T, other=0.0)


@triton.jit
def keys_and_values(
    q, k, v, do, lse, delta, dk, dv, T, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr
):
    first, head = tl.program_id(0) * ROWS, tl.program_id(1).to(tl.int64)
    keys, values = tile(k, first, head, T, ROWS, WIDTH), tile(v, first, head, T, ROWS, WIDTH)
    key = first + tl.arange(0, ROWS)
    of_keys = tl.zeros([ROWS, WIDTH], tl.float32)
    of_values = tl.zeros([ROWS, WIDTH], tl.float32)
    for start in range(first if CAUSAL else 0, T, ROWS):
        row = start + tl.arange(0, ROWS)
        queries, gradients = tile(q, start, head, T, ROWS, WIDTH), tile(do, start, head, T, ROWS, WIDTH)
        log = tl.load(lse + head * T + row, mask=row < T, other=float("inf")) * LOG2E
        mean = tl.load(delta + head * T + row, mask=row < T, other=0.0)
        weights = tl.exp2(tl.dot(keys, tl.trans(queries)) * (scale * LOG2E) - log[None, :])
        if CAUSAL:
            weights = tl.where(key[:, None] <= row[None, :], weights, 0.0)
        of_values = tl.dot(weights.to(gradients.dtype), gradients, of_values)
        slopes = weights * (tl.dot(values, tl.trans(gradients)) - mean[None, :])
        of_keys = tl.dot(slopes.to(queries.dtype), queries, of_keys)
    at = (head * T + key)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(dk + at, (of_keys * scale).to(dk.dtype.element_ty), mask=key[:, None] < T)
    tl.store(dv + at, of_values.to(dv.dtype.element_ty), mask=key[:, None] < T)


@triton.jit
def queries_alone(q, k, v, do, lse, delta, dq, T, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    first, head = tl.program_id(0) * ROWS, tl.program_id(1).to(tl.int64)
    queries, gradients = tile(q, first, head, T, ROWS, WIDTH), tile(do, first, head, T, ROWS, WIDTH)
    row = first + tl.arange(0, ROWS)
    log = tl.load(lse + head * T + row, mask=row < T, other=float("inf")) * LOG2E
    mean = tl.load(delta + head * T + row, mask=row < T, other=0.0)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    for start in range(0, min(first + ROWS, T) if CAUSAL else T, ROWS):
        keys, values = tile(k, start, head, T, ROWS, WIDTH), tile(v, start, head, T, ROWS, WIDTH)
        weights = tl.exp2(tl.dot(queries, tl.trans(keys)) * (scale * LOG2E) - log[:, None])
        if CAUSAL:
            weights = tl.where(start + tl.arange(0, ROWS)[None, :] <= row[:, None], weights, 0.0)
        slopes = weights * (tl.dot(gradients, tl.trans(values)) - mean[:, None])
        sums = tl.dot(slopes.to(keys.dtype), keys, sums)
    at = (head * T + row)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(dq + at, (sums * scale).to(dq.dtype.element_ty), mask=row[:, None] < T)


# endregion


def attention_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    *,
    causal: bool = False,
    out: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return dq, dk and dv of contiguous (B, H, T, 128) tensors; lse is (B, H, T) in float32."""
    B, H, T, _ = q.shape
    dq, dk, dv = (torch.empty_like(q) for _ in range(3)) if out is None else out
    delta = torch.empty_like(lse)
    deltas[(triton.cdiv(B * H * T, ROWS),)](o, do, delta, B * H * T, ROWS=ROWS, WIDTH=WIDTH)
    grid, options = (triton.cdiv(T, ROWS), B * H), {"CAUSAL": causal, "ROWS": ROWS, "WIDTH": WIDTH}
    scale = WIDTH**-0.5
    keys_and_values[grid](q, k, v, do, lse, delta, dk, dv, T, scale, **options, num_warps=4, num_stages=2)
    queries_alone[grid](q, k, v, do, lse, delta, dq, T, scale, **options, num_warps=4, num_stages=2)
    return dq, dk, dv
