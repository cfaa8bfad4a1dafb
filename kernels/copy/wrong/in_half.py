"""Wrong: the result has the dtype float16 instead of that of the input."""

import torch


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.half() if out is None else out.copy_(x)
