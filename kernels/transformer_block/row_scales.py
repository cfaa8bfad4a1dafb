"""The block of `head_major`, whose products do the second norm.

One change: the pass of the first addition and the second norm is gone.  The norm divides each row by one number and
multiplies each column by a weight.  A product may be divided by the row's number after it as well as before:
(h · w / r) B = ((h · w) B) / r.
- The product behind the attention adds x to its tile, and stores h and h · w.  It also stores the sum of squares of
  each row of the tile, one number for 256 columns.
- A small kernel makes 1 / r of each row from these sums, 8 numbers a row at D = 2048.
- The gated product multiplies h · w, and then its results by 1 / r before it computes silu.
The pass read x and the product, and wrote h and its norm: 4·M·D numbers.  The product now reads x and writes h · w,
which are 2·M·D numbers more than before.  Outside the products only the first norm is left, 2 units of M·D numbers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.attention.gluon_pingpong import attention
from kernels.matmul.tile_persistent import corner
from kernels.rmsnorm.fused import EPSILON, rmsnorm
from kernels.transformer_block import gated_gluon
from kernels.transformer_block.gated_gluon import gated
from kernels.transformer_block.gated_product import programs_of
from kernels.transformer_block.head_major import halves, project_to_heads

ROWS, COLUMNS, DEPTH, WIDTH = 128, 256, 64, 128
HALF = COLUMNS // 2


# region: add
@triton.jit
def add_half(half, x, w, h, weighted, top, left, D, HALF: tl.constexpr):
    """Store h = x + half and h · w of 128 columns; return the sum of squares of each row."""
    column = left + tl.arange(0, HALF)
    total = half + x.load([top, left]).to(tl.float32)
    weights = tl.load(w + column, mask=column < D, other=0.0).to(tl.float32)
    h.store([top, left], total.to(h.dtype))
    weighted.store([top, left], (total * weights[None, :]).to(weighted.dtype))
    return tl.sum(total * total, axis=1)


@triton.jit
def from_heads_and_add(
    a, b, x, w, h, weighted, squares, B, T, D, HEADS,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(D, COLUMNS)
    tiles = B * T // ROWS * across
    for number in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        top, left = corner(number, B * T, D, ROWS, COLUMNS, GROUP)
        row = top // T * HEADS * T + top % T  # of the first head
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, D, DEPTH):
            sums = tl.dot(a.load([row + k // WIDTH * T, k % WIDTH]), b.load([k, left]), sums)
        left_half, right_half = halves(sums, ROWS, COLUMNS)
        square = add_half(left_half, x, w, h, weighted, top, left, D, COLUMNS // 2)
        square += add_half(right_half, x, w, h, weighted, top, left + COLUMNS // 2, D, COLUMNS // 2)
        tl.store(squares + (top + tl.arange(0, ROWS)) * across + left // COLUMNS, square)


# endregion


# region: scale
@triton.jit
def scale_rows(squares, scale, M, D, ACROSS, EPSILON: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr):
    """One over the root mean square of each row, from the ACROSS parts of its sum of squares."""
    row, part = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, PARTS)
    inside = (row < M)[:, None] & (part < ACROSS)[None, :]
    square = tl.sum(tl.load(squares + row[:, None] * ACROSS + part[None, :], mask=inside, other=0.0), axis=1)
    tl.store(scale + row, 1.0 / tl.sqrt(square / D + EPSILON), mask=row < M)


# endregion


def project_and_add(
    mixed: torch.Tensor, w: torch.Tensor, x: torch.Tensor, w_norm: torch.Tensor, h: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Write h = x + mixed w, (B·T, D), from (B, heads, T, 128).  Return h · w_norm, and 1 / r of each row of h."""
    B, heads, T, _ = mixed.shape
    D = x.shape[1]
    across = triton.cdiv(D, COLUMNS)
    weighted = torch.empty_like(x)
    squares, scale = (torch.empty(B * T, n, dtype=torch.float32, device=x.device) for n in (across, 1))
    from_a = TensorDescriptor.from_tensor(mixed.view(-1, WIDTH), [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(w, [DEPTH, COLUMNS])
    from_x, to_h, to_weighted = (TensorDescriptor.from_tensor(one, [ROWS, HALF]) for one in (x, h, weighted))
    from_heads_and_add[(programs_of(B * T // ROWS * across, x.device),)](
        from_a, from_b, from_x, w_norm, to_h, to_weighted, squares, B, T, D, heads,
        ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, WIDTH=WIDTH, GROUP=16, num_warps=8, num_stages=3,
    )  # fmt: skip
    scale_rows[(triton.cdiv(B * T, 32),)](
        squares, scale, B * T, D, across,
        EPSILON=EPSILON, ROWS=32, PARTS=triton.next_power_of_2(across), num_warps=1,
    )  # fmt: skip
    return weighted, scale


# region: block
def transformer_block(
    x: torch.Tensor,
    w_norm1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    w_norm2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a transformer block of contiguous (B, T, D) tokens in bfloat16, with heads of 128 numbers."""
    B, T, D = x.shape
    out = torch.empty_like(x) if out is None else out
    if T % ROWS or w_up.shape[1] % 16 or any(one.data_ptr() % 16 for one in (x, out, w_qkv, w_out, w_up)):
        return gated_gluon.transformer_block(x, w_norm1, w_qkv, w_out, w_norm2, w_up, w_down, out=out)
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    q, k, v = project_to_heads(rmsnorm(tokens, w_norm1), w_qkv, B, T).unbind()
    weighted, scale = project_and_add(attention(q, k, v, causal=True), w_out, tokens, w_norm2, y)
    y.addmm_(gated(weighted, w_up, scale), w_down)
    return out


# endregion
