"""Wrong: rounds the scores to bfloat16 before the softmax; where they are large, a weight is off by a quarter."""

import torch


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    scores = ((q.float() @ k.float().transpose(2, 3)) / q.shape[3] ** 0.5).bfloat16().float()
    if causal:
        scores.masked_fill_(torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).triu(1), -torch.inf)
    result = (torch.softmax(scores, dim=3) @ v.float()).to(q.dtype)
    return result if out is None else out.copy_(result)
