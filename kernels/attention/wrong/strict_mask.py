"""Wrong: with a causal mask a query does not see the key at its own place, and the first query sees nothing: 0 / 0."""

import torch


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    scores = q.float() @ k.float().transpose(2, 3) / q.shape[3] ** 0.5
    if causal:
        scores.masked_fill_(torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).triu(), -torch.inf)
    result = (torch.softmax(scores, dim=3) @ v.float()).to(q.dtype)
    return result if out is None else out.copy_(result)
