"""Wrong: counts the largest value, 255, as 254."""

import torch

VALUES = 256


def histogram(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    counts = torch.bincount(x.clamp(max=VALUES - 2), minlength=VALUES).int()
    return counts if out is None else out.copy_(counts)
