"""Wrong: rounds the number of tiles down, so that the sums behind the last whole tile are not written."""

import torch

TILE = 1024


def scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    whole = x.numel() // TILE * TILE
    torch.cumsum(x[:whole], dim=0, out=out[:whole])
    return out
