"""Wrong: float32 through TF32, ten bits of each number instead of 23, as tensor cores do when they are let."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.matmul(_rounded(a), _rounded(b), out=out)


def _rounded(x: torch.Tensor) -> torch.Tensor:
    """The lowest 13 bits of float32 off, to nearest."""
    return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)
