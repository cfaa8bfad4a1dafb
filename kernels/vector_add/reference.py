"""What a vector addition is; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random numbers."""
    return {name: torch.randn(dims["N"], generator=generator, device=device, dtype=dtype) for name in ("a", "b")}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: small integers that tell their place; every sum is an integer below 256, exact in bfloat16 too."""
    if name == "exact":
        place = torch.arange(dims["N"], device=device)
        yield {"a": (place % 127 + 1).to(dtype), "b": (place % 113 + 1).to(dtype)}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a + b


def _torch(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.add(a, b, out=out)


def _torch_compile(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _compiled()(a, b)


@functools.cache
def _compiled() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(lambda a, b: a + b, dynamic=False)


BASELINES = {"torch": _torch, "torch.compile": _torch_compile}
