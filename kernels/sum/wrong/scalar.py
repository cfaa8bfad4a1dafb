"""Wrong: a tensor without dimensions where one of one element is declared."""

import torch


def sum(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.sum(x) if out is None else torch.sum(x, dim=0, keepdim=True, out=out)
