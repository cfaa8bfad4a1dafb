"""Cross-entropy and its gradient in plain torch; the inputs that they are judged by; what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]
Outputs = tuple[torch.Tensor, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random logits, and a random class and a random gradient of the loss for each row."""
    M, N = dims["M"], dims["N"]
    logits = torch.randn(M, N, generator=generator, device=device, dtype=dtype)
    target = torch.randint(0, N, (M,), generator=generator, device=device)
    return {"logits": logits, "target": target, "dloss": torch.randn(M, generator=generator, device=device)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`extreme`: logits that overflow without the maximum, rows of equal ones, and rows with masked ends."""
    made = make_inputs(dims, dtype, generator, device)
    logits, N = made["logits"], dims["N"]
    if name == "extreme":
        yield {**made, "logits": logits * 1e4}
        yield {**made, "logits": torch.full_like(logits, -1e4)}
        beyond = torch.arange(N, device=device) > made["target"][:, None]
        yield {**made, "logits": logits.masked_fill(beyond, -torch.inf)}


def reference(logits: torch.Tensor, target: torch.Tensor, dloss: torch.Tensor) -> Outputs:
    """The loss of each row, and (softmax(logits) - 1 at the target) times the gradient of the loss."""
    loss = torch.logsumexp(logits, dim=1) - logits.gather(1, target[:, None])[:, 0]
    gradient = torch.softmax(logits, dim=1)
    gradient[torch.arange(len(target), device=target.device), target] -= 1
    return loss, gradient * dloss[:, None]


def _torch(logits: torch.Tensor, target: torch.Tensor, dloss: torch.Tensor) -> Outputs:
    numbers = logits.float()
    lse = torch.logsumexp(numbers, dim=1)
    hit = torch.arange(logits.shape[1], device=target.device) == target[:, None]
    probabilities = torch.exp(numbers - lse[:, None])
    gradient = (torch.where(hit, probabilities - 1, probabilities) * dloss[:, None]).to(logits.dtype)
    return lse - numbers.gather(1, target[:, None])[:, 0], gradient


def _torch_compile(logits: torch.Tensor, target: torch.Tensor, dloss: torch.Tensor) -> Outputs:
    return _compiled()(logits, target, dloss)


@functools.cache
def _compiled() -> Callable[..., Outputs]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_torch, dynamic=False)


BASELINES = {"torch": _torch, "torch.compile": _torch_compile}
