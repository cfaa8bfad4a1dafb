"""Wrong: rounds its sums to bfloat16 after every slice of K, so that each slice costs bits."""

import torch

DEPTH = 32


def matmul_fp8(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    sums = torch.zeros(a.shape[0], b.shape[0], dtype=torch.bfloat16, device=a.device)
    for k in range(0, a.shape[1], DEPTH):
        sums += (a[:, k : k + DEPTH].float() @ b[:, k : k + DEPTH].float().T).bfloat16()
    return sums if out is None else out.copy_(sums)
