"""What a sum is; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

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
    """`exact`: small integers with a small sum, which any order of additions gives exactly.
    `one_hot`: a single 1, first, last and where a vector or a tile ends: each must be counted once."""
    N = dims["N"]
    if name == "exact":
        yield {"x": _balanced(N, generator, device).to(dtype)}
    if name == "one_hot":
        for place in sorted({0, N // 2, max(N - 2, 0), N - 1} | {N // width * width % N for width in (4, 8, 1024)}):
            x = torch.zeros(N, device=device, dtype=dtype)
            x[place] = 1
            yield {"x": x}


def _balanced(N: int, generator: torch.Generator, device: torch.device | str) -> torch.Tensor:
    """Integers from -7 to 8 that cancel in pairs, first with last and so on, but for at most 100 ones among them."""
    half = torch.randint(-7, 8, (N // 2,), generator=generator, device=device, dtype=torch.int32)
    x = torch.cat([half, torch.zeros(N % 2, dtype=torch.int32, device=device), -half.flip(0)])
    x[:: max(1, N // 100)][:100] += 1
    return x


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=0, keepdim=True)


def error_scale(x: torch.Tensor) -> torch.Tensor:
    """Σ|x|: positive and negative numbers cancel, and what is left says nothing of the error on the way."""
    return x.abs().sum(dim=0, keepdim=True)


def _torch(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.sum(x, dim=0, keepdim=True) if out is None else torch.sum(x, dim=0, keepdim=True, out=out)


def _torch_compile(x: torch.Tensor) -> torch.Tensor:
    return _compiled("default")(x)


def _torch_compile_max_autotune(x: torch.Tensor) -> torch.Tensor:
    """Let the compiler time several variants; without CUDA graphs, since they would copy inputs and hide launches."""
    return _compiled("max-autotune-no-cudagraphs")(x)


@functools.cache
def _compiled(mode: str) -> Callable[[torch.Tensor], torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(lambda x: torch.sum(x, dim=0, keepdim=True), dynamic=False, mode=mode)


BASELINES = {
    "torch": _torch,
    "torch.compile": _torch_compile,
    "torch.compile-max-autotune": _torch_compile_max_autotune,
}
