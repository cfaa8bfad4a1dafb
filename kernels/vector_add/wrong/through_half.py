"""Wrong: adds in bfloat16, with two to three digits, whatever it was given."""

import torch


def vector_add(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(a) if out is None else out
    return out.copy_(a.bfloat16() + b.bfloat16())
