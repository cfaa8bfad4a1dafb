"""The gradients of attention in Triton, all three in one kernel that computes the scores once.

One change from `two_kernels`: a program takes 64 keys, passes over the queries, and adds its share of dq to memory in
float32.  All programs of a head add to the same numbers, in an order that differs from run to run.  So dq is not the
same bit for bit in every run.  A last kernel rounds dq.
"""

import torch
import triton
import triton.language as tl

from kernels.attention_backward.two_kernels import LOG2E, deltas, tile

ROWS, WIDTH = 64, 128


# region: kernels
@triton.jit
def gradients_of_tile(
    q, k, v, do, lse, delta, dq, dk, dv, T, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr
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
        slopes = slopes.to(queries.dtype)
        of_keys = tl.dot(slopes, queries, of_keys)
        of_queries = tl.dot(tl.trans(slopes), keys)
        at = (head * T + row)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        tl.atomic_add(dq + at, of_queries, mask=row[:, None] < T, sem="relaxed")
    at = (head * T + key)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(dk + at, (of_keys * scale).to(dk.dtype.element_ty), mask=key[:, None] < T)
    tl.store(dv + at, of_values.to(dv.dtype.element_ty), mask=key[:, None] < T)


@triton.jit
def rounded(sums, result, count, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, (tl.load(sums + at, mask=at < count) * scale).to(result.dtype.element_ty), mask=at < count)


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
    delta, sums = torch.empty_like(lse), torch.zeros_like(q, dtype=torch.float32)
    deltas[(triton.cdiv(B * H * T, ROWS),)](o, do, delta, B * H * T, ROWS=ROWS, WIDTH=WIDTH)
    grid, scale = (triton.cdiv(T, ROWS), B * H), WIDTH**-0.5
    gradients_of_tile[grid](
        q,
        k,
        v,
        do,
        lse,
        delta,
        sums,
        dk,
        dv,
        T,
        scale,
        CAUSAL=causal,
        ROWS=ROWS,
        WIDTH=WIDTH,
        num_warps=4,
        num_stages=2,
    )
    rounded[(triton.cdiv(q.numel(), 4096),)](sums, dq, q.numel(), scale, BLOCK=4096)
    return dq, dk, dv
