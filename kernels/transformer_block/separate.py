"""A transformer block with a kernel for each operation.

    h = x + attention(norm(x) w_qkv) w_out
    y = h + (silu(gate) · up) w_down, where gate and up are the halves of norm(h) w_up

The products are cuBLAS's and the attention is cuDNN's, both through torch; they do nearly all operations.  Between them
three kinds of kernels pass over tensors.  With M = B·T tokens they move, in units of M·D numbers:
- norm, twice: 2 each
- addition, twice: 3 each
- silu(gate) · up: 3·F / D
That is 10 + 3·F / D.  At M = 16384, D = 2048 and F = 5632 a unit is 67 MB.  The sum is 1.22 GB, or 0.3 ms at 4.3 TB/s.
"""

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from kernels.rmsnorm.fused import rmsnorm
from kernels.vector_add.tile import vector_add

WIDTH = 128
"""Numbers of a query, a key and a value."""


def attend(qkv: torch.Tensor, B: int, T: int) -> torch.Tensor:
    """Return (B·T, D): causal attention of the queries, keys and values in the columns of a (B·T, 3·D) tensor."""
    q, k, v = qkv.view(B, T, 3, -1, WIDTH).permute(2, 0, 3, 1, 4).unbind()
    small = not qkv.is_cuda or T < 1024  # cuDNN does not take every shape
    backends = [SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH] if small else [SDPBackend.CUDNN_ATTENTION]
    with sdpa_kernel(backends, set_priority=True):
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(1, 2).reshape(B * T, -1)


# region: gate
@triton.jit
def gate_tile(numbers, gated, F, BLOCK: tl.constexpr):
    """silu(gate) · up for BLOCK columns of one row, which holds F gates and then F numbers to be gated."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < F
    gate = tl.load(numbers + row * 2 * F + column, mask=inside).to(tl.float32)
    up = tl.load(numbers + row * 2 * F + F + column, mask=inside).to(tl.float32)
    tl.store(gated + row * F + column, gate * tl.sigmoid(gate) * up, mask=inside)


def gate(numbers: torch.Tensor) -> torch.Tensor:
    """Return silu(gate) · up, (M, F), for a contiguous (M, 2·F) tensor of gates and numbers to be gated."""
    rows, columns = numbers.shape[0], numbers.shape[1] // 2
    gated = numbers.new_empty(rows, columns)
    gate_tile[(rows, triton.cdiv(columns, 2048))](numbers, gated, columns, BLOCK=2048, num_warps=8)
    return gated


# endregion


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
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    mixed = attend(torch.mm(rmsnorm(tokens, w_norm1), w_qkv), B, T)
    h = vector_add(tokens, torch.mm(mixed, w_out))
    gated = gate(torch.mm(rmsnorm(h, w_norm2), w_up))
    vector_add(h, torch.mm(gated, w_down), out=y)
    return out


# endregion
