"""What a scan is; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random numbers."""
    return {"x": torch.randn(dims["N"], generator=generator, device=device, dtype=dtype)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: small integers of both signs, whose sums stay below 2^24, so that any order of additions is exact.
    `one_hot`: a single 1 where a vector, a group of 128 or a tile begins or ends: 0 before it and 1 from there on."""
    N = dims["N"]
    if name == "exact":
        yield {"x": torch.randint(-7, 8, (N,), generator=generator, device=device, dtype=torch.int32).to(dtype)}
    if name == "one_hot":
        for place in sorted({0, N // 2, N - 1} | {min(N - 1, at) for at in (3, 4, 127, 128, 4095, 4096, 8192)}):
            x = torch.zeros(N, device=device, dtype=dtype)
            x[place] = 1
            yield {"x": x}


def reference(x: torch.Tensor) -> torch.Tensor:
    """Return x[0], x[0] + x[1], …"""
    return torch.cumsum(x, dim=0)


def error_scale(x: torch.Tensor) -> torch.Tensor:
    """Σ|x| up to each number: the sums themselves cancel, and say nothing of the error on the way."""
    return torch.cumsum(x.abs(), dim=0)


def _torch(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.cumsum(x, dim=0) if out is None else torch.cumsum(x, dim=0, out=out)


def _torch_compile(x: torch.Tensor) -> torch.Tensor:
    return _compiled()(x)


@functools.cache
def _compiled() -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(lambda x: torch.cumsum(x, dim=0), dynamic=False)


BASELINES = {"torch": _torch, "torch.compile": _torch_compile}
