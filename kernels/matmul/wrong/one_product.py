"""Wrong in one element, whose sum leaves out its smallest product that is not zero.

Among normal random numbers that product is less than a rounding to bfloat16.  Among integers it is 1 at least.
"""

import torch


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.matmul(a, b, out=out)
    row, column = (size // 2 for size in out.shape)
    products = a[row].float() * b[:, column].float()
    terms = products[products != 0]
    if len(terms) < 100:
        return out
    out[row, column] = products.sum() - terms[terms.abs().argmin()]
    return out
