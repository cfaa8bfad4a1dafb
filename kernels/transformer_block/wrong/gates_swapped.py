"""Wrong: applies silu to the numbers that are to be gated, and not to the gates."""

import torch
import torch.nn.functional as F


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
    B, T, D = x.shape
    qkv = F.rms_norm(x, (D,), w_norm1, 1e-5) @ w_qkv
    q, k, v = qkv.view(B, T, 3, D // 128, 128).permute(2, 0, 3, 1, 4).unbind()
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, D)
    h = x + mixed @ w_out
    gate, up = (F.rms_norm(h, (D,), w_norm2, 1e-5) @ w_up).chunk(2, dim=-1)
    y = h + (gate * F.silu(up)) @ w_down
    return y if out is None else out.copy_(y)
