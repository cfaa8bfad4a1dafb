"""Wrong: leaves the number at its own place out of each sum."""

import torch


def scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    y = torch.cat([x.new_zeros(1), torch.cumsum(x, dim=0)[:-1]])
    return y if out is None else out.copy_(y)
