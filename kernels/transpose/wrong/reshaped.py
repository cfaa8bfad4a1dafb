"""Wrong: the elements in their old order under the new shape, which is a transpose of vectors only."""

import torch


def transpose(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    turned = x.reshape(x.shape[1], x.shape[0])
    return turned.clone() if out is None else out.copy_(turned)
