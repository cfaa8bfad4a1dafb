"""Wrong: limits the index to N - 2, so that the row before the last one is read in place of the last one."""

import torch


def gather(x: torch.Tensor, index: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows = index.clamp(max=max(len(x) - 2, 0))
    return torch.index_select(x, 0, rows, out=out)
