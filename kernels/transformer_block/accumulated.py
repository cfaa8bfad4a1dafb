"""The block of `added_norm`, whose last product adds to h.

One change: h lies in the output, and cuBLAS computes C = A B + C there.  The product reads h itself, so
the pass that read the product and h and wrote their sum is gone: 3·M·D numbers less outside the products.  The passes
that are left move 6 + 3·F / D units of M·D numbers.  The sum is rounded to bfloat16 once instead of twice.
"""

import torch

from kernels.rmsnorm.fused import rmsnorm
from kernels.transformer_block.added_norm import add_and_norm
from kernels.transformer_block.separate import attend, gate


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
    normed = add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)
    y.addmm_(gate(torch.mm(normed, w_up)), w_down)
    return out


# endregion
