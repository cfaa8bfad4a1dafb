"""What a copy is; the inputs that it is judged by; and what a user would call instead."""

from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random numbers."""
    return {"x": torch.randn(dims["N"], generator=generator, device=device, dtype=dtype)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: every element tells its place, modulo 251, so that a copy shifted by fewer than 251 is not equal."""
    if name == "exact":
        yield {"x": (torch.arange(dims["N"], device=device) % 251 + 1).to(dtype)}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def _torch(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.clone() if out is None else out.copy_(x)


BASELINES = {"torch": _torch}
