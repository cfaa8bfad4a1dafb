"""Wrong: beta is 1, so the product is added to what lies in `out`; right whenever that is zero."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = a.new_zeros(a.shape[0], b.shape[1]) if out is None else out
    return torch.addmm(out, a, b, out=out)
