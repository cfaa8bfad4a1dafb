"""Wrong: writes row i to place i, as if the index were in ascending order."""

import torch


def gather(x: torch.Tensor, index: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.clone() if out is None else out.copy_(x)
