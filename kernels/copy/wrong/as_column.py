"""Wrong: the elements of a vector, in the shape of a matrix with one column."""

import torch


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.clone()[:, None] if out is None else out.copy_(x)
