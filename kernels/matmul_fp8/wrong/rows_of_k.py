"""Wrong: reads B as (K, N), as `matmul` has it; right only where B has one row or one column."""

import torch


def matmul_fp8(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    product = (a.float() @ b.float().reshape(b.shape[1], b.shape[0])).bfloat16()
    return product if out is None else out.copy_(product)
