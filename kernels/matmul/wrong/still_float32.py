"""Wrong: returns the sums as they were added, in float32, where bfloat16 is declared."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    sums = a.float() @ b.float()
    return sums if out is None else out.copy_(sums)
