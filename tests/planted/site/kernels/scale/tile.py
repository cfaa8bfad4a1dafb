"""One program for each tile."""

import triton
import triton.language as tl


@triton.jit
def scale_tile(x, y, N, factor, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.load(x + i, mask=i < N) * factor, mask=i < N)


def scale(x, *, out=None, factor):
    scale_tile[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), factor, TILE=1024)
    return out
