"""Wrong: divides the sum of squares of the last row by N - 1 instead of N.  The norm of many rows hardly changes."""

import torch

EPSILON = 1e-5


def rmsnorm(x: torch.Tensor, w: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    counts = torch.full((x.shape[0], 1), float(x.shape[1]), device=x.device)
    counts[-1] = max(1, x.shape[1] - 1)
    means = x.float().square().sum(dim=1, keepdim=True) / counts
    result = (x.float() / torch.sqrt(means + EPSILON) * w.float()).to(x.dtype)
    return result if out is None else out.copy_(result)
