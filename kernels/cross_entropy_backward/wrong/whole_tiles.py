"""Wrong: the grid is rounded down, so the columns behind the last whole tile are never written."""

import torch

from kernels.cross_entropy_backward.tile import gradient_of_tile

BLOCK = 64


def cross_entropy_backward(
    logits: torch.Tensor,
    target: torch.Tensor,
    lse: torch.Tensor,
    dloss: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    rows, columns = logits.shape
    out = torch.empty_like(logits) if out is None else out
    grid = (max(1, columns // BLOCK), rows)
    gradient_of_tile[grid](logits, target, lse, dloss, out, columns, BLOCK=BLOCK, num_warps=2)
    return out
