"""A transformer block: the results are right, but each step is a pass over memory; fuse them.

The products and the attention are torch's.  Change the Triton kernels, and how `transformer_block` calls them.
"""

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


@triton.jit
def norm_row(x, w, y, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * D
    columns = tl.arange(0, BLOCK)
    inside = columns < D
    values = tl.load(x + row + columns, mask=inside, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(values * values, axis=0) / D + 1e-5)
    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row + columns, values * scale * weights, mask=inside)


@triton.jit
def add_row(a, b, c, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * D
    columns = tl.arange(0, BLOCK)
    inside = columns < D
    total = tl.load(a + row + columns, mask=inside).to(tl.float32)
    total += tl.load(b + row + columns, mask=inside).to(tl.float32)
    tl.store(c + row + columns, total, mask=inside)


@triton.jit
def gate_tile(numbers, gated, F, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < F
    gate = tl.load(numbers + row * 2 * F + columns, mask=inside).to(tl.float32)
    up = tl.load(numbers + row * 2 * F + F + columns, mask=inside).to(tl.float32)
    tl.store(gated + row * F + columns, gate * tl.sigmoid(gate) * up, mask=inside)


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Return each row of x over the root of its mean square, times w."""
    rows, columns = x.shape
    y, block = torch.empty_like(x), triton.next_power_of_2(columns)
    norm_row[(rows,)](x, w, y, columns, BLOCK=block, num_warps=max(1, block // 512))
    return y


def add(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """Write a + b into c."""
    rows, columns = a.shape
    block = triton.next_power_of_2(columns)
    add_row[(rows,)](a, b, c, columns, BLOCK=block, num_warps=max(1, block // 512))


def gate(numbers: torch.Tensor) -> torch.Tensor:
    """Return silu(gate) · up: the first half of each row are gates, the second the numbers to be gated."""
    rows, columns = numbers.shape[0], numbers.shape[1] // 2
    gated = numbers.new_empty(rows, columns)
    gate_tile[(rows, triton.cdiv(columns, 2048))](numbers, gated, columns, BLOCK=2048, num_warps=8)
    return gated


def attend(qkv: torch.Tensor, B: int, T: int) -> torch.Tensor:
    """Return the causal attention of the queries, keys and values in the columns of qkv; it stays as it is."""
    q, k, v = qkv.view(B, T, 3, -1, 128).permute(2, 0, 3, 1, 4).unbind()
    small = not qkv.is_cuda or T < 1024  # cuDNN does not take every shape
    backends = [SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH] if small else [SDPBackend.CUDNN_ATTENTION]
    with sdpa_kernel(backends, set_priority=True):
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(1, 2).reshape(B * T, -1)


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
    """Return the block of the tokens x; the check gives `out`, into which the kernels must write."""
    B, T, D = x.shape
    out = torch.empty_like(x) if out is None else out
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    mixed = attend(torch.mm(norm(tokens, w_norm1), w_qkv), B, T)
    h = torch.empty_like(tokens)
    add(tokens, torch.mm(mixed, w_out), h)
    gated = gate(torch.mm(norm(h, w_norm2), w_up))
    add(h, torch.mm(gated, w_down), y)
    return out
