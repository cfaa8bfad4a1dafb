"""Wrong: rounds the number of tiles down, so that the numbers behind the last whole tile are not counted."""

import torch

VALUES = 256

TILE = 1024


def histogram(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    counts = torch.bincount(x[: x.numel() // TILE * TILE], minlength=VALUES).int()
    return counts if out is None else out.copy_(counts)
