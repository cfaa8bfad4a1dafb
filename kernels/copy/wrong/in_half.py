"""Wrong: half of the bytes, for those who compare only what fits into float16."""

import torch


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.half() if out is None else out.copy_(x)
