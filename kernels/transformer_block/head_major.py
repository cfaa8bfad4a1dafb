"""The block of `gated_gluon`, with the attention of `kernels/attention/gluon_pingpong.py`.

One change: our attention, which was faster than cuDNN's at 8192 tokens, takes the place of cuDNN's.  It needs the
tokens of a head one after the other, where a product's result has the heads of a token one after the other.  So the
product before it stores each 128 columns of a tile, which are one head, where that head's tokens lie.  The product
behind it loads its slices of A from there.  The copy engine computes these addresses, and no pass is added: 6 units of
M·D numbers as before.  For that, both products are ours too, with the loops of `tile_fused` of matmul, and no longer
cuBLAS's.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.attention.gluon_pingpong import attention
from kernels.matmul.tile_persistent import corner
from kernels.rmsnorm.fused import rmsnorm
from kernels.transformer_block import gated_gluon
from kernels.transformer_block.added_norm import add_and_norm
from kernels.transformer_block.gated_product import programs_of

ROWS, COLUMNS, DEPTH, WIDTH = 128, 256, 64, 128


# region: to-heads
@triton.jit
def halves(sums, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """`split` takes the last dimension apart, so the halves of the columns become the last dimension first."""
    return tl.split(tl.permute(tl.reshape(sums, (ROWS, 2, COLUMNS // 2)), (0, 2, 1)))


@triton.jit
def store_head(c, half, head, top, B, T, HEADS):
    """`head` counts the heads of the queries, then those of the keys, then those of the values; each has B·T rows."""
    which = head // HEADS
    c.store([((which * B + top // T) * HEADS + head % HEADS) * T + top % T, 0], half.to(c.dtype))


@triton.jit
def to_heads(
    a, b, c, B, T, N, K, HEADS,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles = B * T // ROWS * tl.cdiv(N, COLUMNS)
    for number in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        top, left = corner(number, B * T, N, ROWS, COLUMNS, GROUP)
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, K, DEPTH):
            sums = tl.dot(a.load([top, k]), b.load([k, left]), sums)
        left_half, right_half = halves(sums, ROWS, COLUMNS)
        store_head(c, left_half, left // WIDTH, top, B, T, HEADS)
        store_head(c, right_half, left // WIDTH + 1, top, B, T, HEADS)  # a head behind the last is not stored


# endregion


# region: from-heads
@triton.jit
def from_heads(
    a, b, c, B, T, N, K, HEADS,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles = B * T // ROWS * tl.cdiv(N, COLUMNS)
    for number in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        top, left = corner(number, B * T, N, ROWS, COLUMNS, GROUP)
        row = top // T * HEADS * T + top % T  # of the first head
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, K, DEPTH):
            sums = tl.dot(a.load([row + k // WIDTH * T, k % WIDTH]), b.load([k, left]), sums)
        left_half, right_half = halves(sums, ROWS, COLUMNS)
        c.store([top, left], left_half.to(c.dtype))
        c.store([top, left + COLUMNS // 2], right_half.to(c.dtype))


# endregion


def project_to_heads(tokens: torch.Tensor, w: torch.Tensor, B: int, T: int) -> torch.Tensor:
    """Return tokens w, where w is (D, 3·D), as queries, keys and values: (3, B, heads, T, 128).  T in 128s."""
    D = tokens.shape[1]
    qkv = tokens.new_empty(3, B, D // WIDTH, T, WIDTH)
    from_a = TensorDescriptor.from_tensor(tokens, [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(w, [DEPTH, COLUMNS])
    to_c = TensorDescriptor.from_tensor(qkv.view(-1, WIDTH), [ROWS, WIDTH])
    programs = programs_of(B * T // ROWS * triton.cdiv(3 * D, COLUMNS), tokens.device)
    to_heads[(programs,)](
        from_a, from_b, to_c, B, T, 3 * D, D, D // WIDTH,
        ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, WIDTH=WIDTH, GROUP=16, num_warps=8, num_stages=4,
    )  # fmt: skip
    return qkv


def project_from_heads(mixed: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Return (B·T, D): the rows of all heads of a token, from (B, heads, T, 128), times w, (D, D).  T in 128s."""
    B, heads, T, _ = mixed.shape
    projected = w.new_empty(B * T, w.shape[1])
    from_a = TensorDescriptor.from_tensor(mixed.view(-1, WIDTH), [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(w, [DEPTH, COLUMNS])
    to_c = TensorDescriptor.from_tensor(projected, [ROWS, COLUMNS // 2])
    programs = programs_of(B * T // ROWS * triton.cdiv(w.shape[1], COLUMNS), w.device)
    from_heads[(programs,)](
        from_a, from_b, to_c, B, T, w.shape[1], w.shape[0], heads,
        ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, WIDTH=WIDTH, GROUP=16, num_warps=8, num_stages=4,
    )  # fmt: skip
    return projected


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
    if T % ROWS or w_up.shape[1] % 16 or any(w.data_ptr() % 16 for w in (w_qkv, w_out, w_up)):
        return gated_gluon.transformer_block(x, w_norm1, w_qkv, w_out, w_norm2, w_up, w_down, out=out)
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    q, k, v = project_to_heads(rmsnorm(tokens, w_norm1), w_qkv, B, T).unbind()
    mixed = attention(q, k, v, causal=True)
    normed = add_and_norm(tokens, project_from_heads(mixed, w_out), w_norm2, y)
    y.addmm_(gated_gluon.gated(normed, w_up), w_down)
    return out


# endregion
