"""Cross-entropy in plain torch; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch
import torch.nn.functional as F

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random logits and a random class for each row."""
    M, N = dims["M"], dims["N"]
    logits = torch.randn(M, N, generator=generator, device=device, dtype=dtype)
    return {"logits": logits, "target": torch.randint(0, N, (M,), generator=generator, device=device)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`one_hot`: one logit far above the others; the loss is exactly 0 where it is the target, and exactly the distance
    elsewhere.  `extreme`: logits that overflow without the maximum, rows of equal ones, and rows with masked ends."""
    made = make_inputs(dims, dtype, generator, device)
    logits, N = made["logits"], dims["N"]
    if name == "one_hot":
        for column in sorted({0, N // 2, N - 1}):
            hot = torch.full_like(logits, -1e4)
            hot[:, column] = 1e4
            yield {**made, "logits": hot}
            yield {"logits": hot, "target": torch.full_like(made["target"], column)}
    if name == "extreme":
        yield {**made, "logits": logits * 1e4}
        yield {**made, "logits": torch.full_like(logits, -1e4)}
        beyond = torch.arange(N, device=device) > made["target"][:, None]
        yield {**made, "logits": logits.masked_fill(beyond, -torch.inf)}


def reference(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """log Σ exp(logits) less the target's logit, of each row."""
    return torch.logsumexp(logits, dim=1) - logits.gather(1, target[:, None])[:, 0]


def error_scale(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The two terms' sizes: a loss near 0 is a difference of large numbers."""
    return torch.logsumexp(logits, dim=1).abs() + logits.gather(1, target[:, None])[:, 0].abs()


def _torch(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float(), target, reduction="none")


def _torch_compile(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return _compiled("default")(logits, target)


def _torch_compile_max_autotune(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Let the compiler time several variants; without CUDA graphs, since they would copy inputs and hide launches."""
    return _compiled("max-autotune-no-cudagraphs")(logits, target)


@functools.cache
def _compiled(mode: str) -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_torch, dynamic=False, mode=mode)


BASELINES = {
    "torch": _torch,
    "torch.compile": _torch_compile,
    "torch.compile-max-autotune": _torch_compile_max_autotune,
}
