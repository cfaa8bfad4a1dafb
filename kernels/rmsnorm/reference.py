"""RMS normalisation in plain torch; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch
import torch.nn.functional as F

Inputs = dict[str, torch.Tensor]
EPSILON = 1e-5


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random rows and weights around 1."""
    options = {"generator": generator, "device": device, "dtype": dtype}
    w = 1 + torch.randn(dims["N"], **options) / 4
    return {"x": torch.randn(dims["M"], dims["N"], **options), "w": w}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`extreme`: rows of zeros, rows so small that ε decides, and rows of large numbers."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "extreme":
        yield {**made, "x": torch.zeros_like(made["x"])}
        yield {**made, "x": made["x"] / 1024}
        yield {**made, "x": made["x"] * 1e4}


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Each row over the root of its mean square, times the weights."""
    return x / torch.sqrt(x.square().mean(dim=1, keepdim=True) + EPSILON) * w


def _torch(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[1],), w, EPSILON)


def _torch_compile(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return _compiled("default")(x, w)


def _torch_compile_max_autotune(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Let the compiler time several variants; without CUDA graphs, since they would copy inputs and hide launches."""
    return _compiled("max-autotune-no-cudagraphs")(x, w)


@functools.cache
def _compiled(mode: str) -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_torch, dynamic=False, mode=mode)


BASELINES = {
    "torch": _torch,
    "torch.compile": _torch_compile,
    "torch.compile-max-autotune": _torch_compile_max_autotune,
}
