"""The attention of `tile_tma`, with warps that load and two groups of warps that compute.

One change: `warp_specialize=True` on the loop over the keys.  Triton then gives each half of the queries, 64 rows, to
four warps of its own, and the loads to others.  The two groups do not wait for each other, so that one can multiply
while the other one computes exponentials.
Triton 3.6 does this with `num_warps=4` only, with tensor descriptors that the kernel makes, and with one loop: with a
causal mask all tiles are masked, also those that need no mask.
"""

import math

import torch
import triton
import triton.language as tl

from kernels.attention import tile_tma

ROWS, KEYS, WIDTH = 128, 128, 128


# region: kernel
@triton.jit
def attention_specialised(
    q, k, v, o, heads, T, unit, CAUSAL: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr
):
    all_rows = heads * T
    from_q = tl.make_tensor_descriptor(q, [all_rows, WIDTH], [WIDTH, 1], [ROWS, WIDTH])
    from_k = tl.make_tensor_descriptor(k, [all_rows, WIDTH], [WIDTH, 1], [KEYS, WIDTH])
    from_v = tl.make_tensor_descriptor(v, [all_rows, WIDTH], [WIDTH, 1], [KEYS, WIDTH])
    to_o = tl.make_tensor_descriptor(o, [all_rows, WIDTH], [WIDTH, 1], [ROWS, WIDTH])
    head = tl.program_id(1) * T
    top = (tl.num_programs(0) - 1 - tl.program_id(0)) * ROWS
    row = top + tl.arange(0, ROWS)[:, None]
    queries = from_q.load([head + top, 0])
    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    end = top + ROWS if CAUSAL else T
    for start in tl.range(0, end, KEYS, warp_specialize=True):
        keys = from_k.load([head + start, 0])
        scores = tl.dot(queries, keys.T)
        if CAUSAL:
            scores = tl.where(start + tl.arange(0, KEYS)[None, :] <= row, scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, axis=1) * unit)  # in units of log2
        weights = tl.exp2(scores * unit - new[:, None])
        shrink = tl.exp2(largest - new)
        total = total * shrink + tl.sum(weights, axis=1)
        values = from_v.load([head + start, 0])
        sums = tl.dot(weights.to(values.dtype), values, sums * shrink[:, None])
        largest = new
    to_o.store([head + top, 0], (sums / total[:, None]).to(o.dtype.element_ty))


# endregion


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Attention of contiguous (B, H, T, 128) tensors; a T that is no multiple of 128 goes to `tile_tma`."""
    B, H, T, _ = q.shape
    if T % ROWS:
        return tile_tma.attention(q, k, v, causal=causal, out=out)
    out = torch.empty_like(q) if out is None else out
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=q.device))
    attention_specialised[(T // ROWS, B * H)](
        q, k, v, out, B * H, T, math.log2(math.e) * WIDTH**-0.5,
        CAUSAL=causal, ROWS=ROWS, KEYS=KEYS, WIDTH=WIDTH, num_warps=4, num_stages=2,
    )  # fmt: skip
    return out
