"""Layer normalisation in plain torch; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch
import torch.nn.functional as F

Inputs = dict[str, torch.Tensor]
EPSILON = 1e-5


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random rows, weights around 1 and biases around 0."""
    options = {"generator": generator, "device": device, "dtype": dtype}
    w = 1 + torch.randn(dims["N"], **options) / 4
    return {"x": torch.randn(dims["M"], dims["N"], **options), "w": w, "b": torch.randn(dims["N"], **options)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`far`: rows whose mean is 32 standard deviations, so that Σx² - N·mean² would cancel.
    `extreme`: rows without variance, where ε alone divides, and rows of large numbers."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "far":
        yield {**made, "x": made["x"] + 32}
    if name == "extreme":
        yield {**made, "x": torch.full_like(made["x"], 0.5)}
        yield {**made, "x": made["x"] * 1e4}


def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Each row less its mean, over its standard deviation, times the weights, plus the biases."""
    distances = x - x.mean(dim=1, keepdim=True)
    return distances / torch.sqrt(distances.square().mean(dim=1, keepdim=True) + EPSILON) * w + b


def _torch(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[1],), w, b, EPSILON)


def _torch_compile(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _compiled("default")(x, w, b)


def _torch_compile_max_autotune(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Let the compiler time several variants; without CUDA graphs, since they would copy inputs and hide launches."""
    return _compiled("max-autotune-no-cudagraphs")(x, w, b)


@functools.cache
def _compiled(mode: str) -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_torch, dynamic=False, mode=mode)


BASELINES = {
    "torch": _torch,
    "torch.compile": _torch_compile,
    "torch.compile-max-autotune": _torch_compile_max_autotune,
}
