"""Wrong: leaves out delta, the sum of o times do of a query, which is subtracted from the gradient of each weight."""

import torch


def attention_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    *,
    causal: bool = False,
    out: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    scores = q.float() @ k.float().transpose(2, 3) / q.shape[3] ** 0.5
    if causal:
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -torch.inf)
    weights = torch.exp(scores - lse[..., None])
    slopes = weights * (do.float() @ v.float().transpose(2, 3)) / q.shape[3] ** 0.5
    gradients = slopes @ k.float(), slopes.transpose(2, 3) @ q.float(), weights.transpose(2, 3) @ do.float()
    rounded = tuple(gradient.to(q.dtype) for gradient in gradients)
    for to, gradient in zip(out or (), rounded, strict=out is not None):
        to.copy_(gradient)
    return rounded
