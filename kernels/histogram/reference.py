"""What a histogram is; the inputs that it is judged by; and what a user would call instead."""

from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]
VALUES = 256


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return N random numbers below R, all equally likely."""
    return {"x": torch.randint(0, dims["R"], (dims["N"],), generator=generator, device=device, dtype=dtype)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`extreme`: the smallest value alone, the largest value alone, and all values in ascending order."""
    if name == "extreme":
        place = torch.arange(dims["N"], device=device)
        for values in (torch.zeros_like(place), torch.full_like(place, VALUES - 1), place * VALUES // dims["N"]):
            yield {"x": values.to(dtype)}


def reference(x: torch.Tensor) -> torch.Tensor:
    """Return the number of places with each value from 0 to 255."""
    return torch.bincount(x, minlength=VALUES)


def _torch(x: torch.Tensor) -> torch.Tensor:
    return torch.bincount(x, minlength=VALUES).int()


BASELINES = {"torch": _torch}
