"""Attention in one kernel: the scores never leave the SM.

One change from `unfused`: a program takes 128 queries and passes over the keys in tiles.  It keeps the largest score of
each row, the sum of the weights, and the weighted sum of the values.  When a tile brings a larger score, the weights so
far were computed with a maximum that was too small: their sums are multiplied by exp(old maximum - new maximum).  After
the last tile they are what the whole row would have given.  This is the online softmax.
With a causal mask a program ends with the tile that holds its last query.
"""

import torch
import triton
import triton.language as tl

ROWS, KEYS, WIDTH = 128, 64, 128


# region: kernel
@triton.jit
def attention_fused(
    q, k, v, o, T, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64) * T * WIDTH
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    d = tl.arange(0, WIDTH)[None, :]
    queries = tl.load(q + head + row * WIDTH + d, mask=row < T, other=0.0)

    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    end = min(T, (tl.program_id(0) + 1) * ROWS) if CAUSAL else T
    for start in range(0, end, KEYS):
        key = start + tl.arange(0, KEYS)
        keys = tl.load(k + head + key[:, None] * WIDTH + d, mask=key[:, None] < T, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        visible = key[None, :] < T
        if CAUSAL:
            visible &= key[None, :] <= row
        scores = tl.where(visible, scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(largest - new)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.load(v + head + key[:, None] * WIDTH + d, mask=key[:, None] < T, other=0.0)
        sums = tl.dot(weights.to(values.dtype), values, sums * shrink[:, None])
        largest = new
    tl.store(o + head + row * WIDTH + d, (sums / total[:, None]).to(o.dtype.element_ty), mask=row < T)


# endregion


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Attention of contiguous (B, H, T, 128) tensors."""
    B, H, T, _ = q.shape
    out = torch.empty_like(q) if out is None else out
    attention_fused[(triton.cdiv(T, ROWS), B * H)](
        q, k, v, out, T, WIDTH**-0.5, CAUSAL=causal, ROWS=ROWS, KEYS=KEYS, WIDTH=WIDTH, num_warps=8, num_stages=3
    )
    return out
