"""Wrong in one element, the middle one: in a norm over 2^28 elements it disappears, as a largest error it does not."""

import torch


def vector_add(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.add(a, b, out=out)
    middle = a.numel() // 2
    out[middle] = a[middle]
    return out
