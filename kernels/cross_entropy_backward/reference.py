"""The gradient of cross-entropy in plain torch; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random logits, a random class and a random gradient of the loss for each row, and the saved log Σ
    exp(logits)."""
    M, N = dims["M"], dims["N"]
    logits = torch.randn(M, N, generator=generator, device=device, dtype=dtype)
    target = torch.randint(0, N, (M,), generator=generator, device=device)
    return {**_saved(logits), "target": target, "dloss": torch.randn(M, generator=generator, device=device)}


def _saved(logits: torch.Tensor) -> Inputs:
    return {"logits": logits, "lse": torch.logsumexp(logits.float(), dim=1)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`extreme`: logits that overflow without lse, rows of equal ones, and rows with masked ends."""
    made = make_inputs(dims, dtype, generator, device)
    logits, N = made["logits"], dims["N"]
    if name == "extreme":
        yield {**made, **_saved(logits * 1e4)}
        yield {**made, **_saved(torch.full_like(logits, -1e4))}
        beyond = torch.arange(N, device=device) > made["target"][:, None]
        yield {**made, **_saved(logits.masked_fill(beyond, -torch.inf))}


def reference(logits: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, dloss: torch.Tensor) -> torch.Tensor:
    """(softmax(logits) - 1 at the target) times the gradient of the loss, of each row."""
    gradient = torch.exp(logits - lse[:, None])
    gradient[torch.arange(len(target), device=target.device), target] -= 1
    return gradient * dloss[:, None]


def _torch(logits: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, dloss: torch.Tensor) -> torch.Tensor:
    gradient = torch.exp(logits.float() - lse[:, None])
    hit = torch.arange(logits.shape[1], device=target.device) == target[:, None]
    return (torch.where(hit, gradient - 1, gradient) * dloss[:, None]).to(logits.dtype)


def _torch_compile(logits: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, dloss: torch.Tensor) -> torch.Tensor:
    return _compiled()(logits, target, lse, dloss)


@functools.cache
def _compiled() -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_torch, dynamic=False)


BASELINES = {"torch": _torch, "torch.compile": _torch_compile}
