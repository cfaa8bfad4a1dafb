"""Wrong: stores whole tiles, so the rows of a last tile that is not full land behind those of the head."""

import torch
import triton
import triton.language as tl

TILE, WIDTH = 32, 128


@triton.jit
def attention_tile(q, k, v, o, T, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T * WIDTH
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    d = tl.arange(0, WIDTH)[None, :]
    queries = tl.load(q + head + row * WIDTH + d, mask=row < T, other=0.0)
    largest = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, WIDTH], tl.float32)
    for start in range(0, T, TILE):
        key = start + tl.arange(0, TILE)
        keys = tl.load(k + head + key[:, None] * WIDTH + d, mask=key[:, None] < T, other=0.0)
        values = tl.load(v + head + key[:, None] * WIDTH + d, mask=key[:, None] < T, other=0.0)
        visible = key[None, :] < T
        if CAUSAL:
            visible &= key[None, :] <= row
        scores = tl.where(visible, tl.dot(queries, tl.trans(keys)) * scale, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(largest - new)
        total = total * shrink + tl.sum(weights, axis=1)
        sums = tl.dot(weights.to(values.dtype), values, sums * shrink[:, None])
        largest = new
    tl.store(o + head + row * WIDTH + d, (sums / total[:, None]).to(o.dtype.element_ty))


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    B, H, T, _ = q.shape
    out = torch.empty_like(q) if out is None else out
    attention_tile[(triton.cdiv(T, TILE), B * H)](q, k, v, out, T, WIDTH**-0.5, CAUSAL=causal, TILE=TILE, WIDTH=WIDTH)
    return out
