"""Wrong: adds to the output without clearing it, so that its old content is part of the counts."""

import torch

VALUES = 256


def histogram(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    counts = torch.bincount(x, minlength=VALUES).int()
    return counts if out is None else out.add_(counts)
