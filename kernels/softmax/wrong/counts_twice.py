"""Wrong: neighbouring tiles share one column, whose exponential is added twice, so the sum is 0.7 % too large."""

import torch

TILE = 144


def softmax(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    powers = torch.exp(x.float() - x.float().amax(dim=1, keepdim=True))
    starts = range(0, x.shape[1], TILE - 1)  # one column less than a tile
    total = torch.stack([powers[:, start : start + TILE].sum(dim=1) for start in starts]).sum(dim=0)
    result = (powers / total[:, None]).to(x.dtype)
    return result if out is None else out.copy_(result)
