"""What a transpose is; the inputs that it is judged by; and what a user would call instead."""

from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random numbers."""
    return {"x": torch.randn(dims["M"], dims["N"], generator=generator, device=device, dtype=dtype)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: every element tells its row, modulo 251; and then its column.  Both numbers are exact in bfloat16, and
    251 is a prime, so that an element of another tile seldom has the same."""
    if name == "exact":
        M, N = dims["M"], dims["N"]
        row, column = torch.arange(M, device=device) % 251 + 1, torch.arange(N, device=device) % 251 + 1
        yield {"x": row[:, None].expand(M, N).to(dtype).contiguous()}
        yield {"x": column.expand(M, N).to(dtype).contiguous()}


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous()


def _torch(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return x.t().contiguous() if out is None else out.copy_(x.t())


BASELINES = {"torch": _torch}
