"""Wrong in one element, by one product of a long sum: less than rounding to bfloat16 may change it, so that only sums
that must be exact show it."""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.matmul(a, b, out=out)
    if a.shape[1] < 200:
        return out
    row, column, k = (size // 2 for size in (*out.shape, a.shape[1]))
    lost = a[row, k].float() * b[k, column].float()
    out[row, column] = (out[row, column].float() - lost).to(out.dtype)
    return out
