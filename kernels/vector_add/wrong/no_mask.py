"""Wrong: no mask, so the last program works on a whole tile where only a part is left."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_tile(a, b, c, TILE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))


def vector_add(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(a) if out is None else out
    add_tile[(triton.cdiv(a.numel(), 1024),)](a, b, out, TILE=1024)
    return out
