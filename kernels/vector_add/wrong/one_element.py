"""Wrong in one element, the middle one of many: no norm over bfloat16 sees that, the largest error does."""

import torch


def vector_add(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.add(a, b, out=out)
    middle = a.numel() // 2
    if middle > 1000:
        out[middle] = a[middle]
    return out
