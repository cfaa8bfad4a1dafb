"""What a gather is; the orders of rows that it is judged and timed with; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return a table of normal random numbers, and an index that holds each of its rows once."""
    x = torch.randn(dims["N"], dims["W"], generator=generator, device=device, dtype=dtype)
    return {"x": x, "index": _order(dims, generator, device)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: numbers that tell their places, modulo 251; the index as it is, backwards, and one row N times."""
    N, W = dims["N"], dims["W"]
    index = _order(dims, generator, device)
    if name == "exact":
        x = (torch.arange(N * W, device=device).view(N, W) % 251 + 1).to(dtype)
        for rows in (index, index.flip(0), torch.full_like(index, N - 1)):
            yield {"x": x, "index": rows}


def _order(dims: Mapping[str, int], generator: torch.Generator, device: torch.device | str) -> torch.Tensor:
    """Return rows 0, S, 2 S, …, then 1, 1 + S, … as int32; each R neighbours of this order are shuffled."""
    N, S, R = dims["N"], dims["S"], dims["R"]
    starts = range(min(S, N))
    strided = torch.cat([torch.arange(start, N, S, device=device, dtype=torch.int32) for start in starts])
    if R == 1:
        return strided
    window = torch.arange(N, device=device) // R
    place = torch.rand(N, generator=generator, device=device, dtype=torch.float64)
    return strided[torch.argsort(window + place)]


def reference(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return row index[i] of the table at place i."""
    return x[index.long()]


def _torch(x: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.index_select(x, 0, index, out=out)


def _torch_compile(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return _compiled()(x, index)


@functools.cache
def _compiled() -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(lambda x, index: torch.index_select(x, 0, index), dynamic=False)


BASELINES = {"torch": _torch, "torch.compile": _torch_compile}
