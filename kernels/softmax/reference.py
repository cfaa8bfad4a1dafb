"""What softmax is, slowly; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random rows, as a network's logits are."""
    return {"x": torch.randn(dims["M"], dims["N"], generator=generator, device=device, dtype=dtype)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """Yield inputs whose results are known exactly, and inputs at the limits of the dtype.

    `exact`: 2^k equal numbers in each row, and others so far below them that the result is exactly 2^-k or 0.
    `one_hot`: one number far above its row, so that the result is exactly 1 there and 0 elsewhere.
    `extreme`: numbers that overflow, underflow or leave nothing to divide by.
    """
    noise = make_inputs(dims, dtype, generator, device)["x"]
    if name == "exact":
        yield {"x": _plateaus(noise)}
    if name == "one_hot":
        for column in sorted({0, dims["N"] // 2, dims["N"] - 1}):
            x = torch.full_like(noise, -1e4)
            x[:, column] = 1e4
            yield {"x": x}
    if name == "extreme":
        yield {"x": noise * 1e4}
        yield {"x": noise + 1e4}
        yield {"x": torch.full_like(noise, -1e4)}
        yield {"x": torch.full_like(noise, torch.finfo(dtype).min)}
        yield {"x": _masked(noise)}
        yield {"x": _masked_out(noise)}


def _plateaus(noise: torch.Tensor) -> torch.Tensor:
    """Return rows with as many equal numbers as the largest power of two that fits, from another column in each."""
    rows, columns = noise.shape
    column, row = (torch.arange(n, dtype=torch.int32, device=noise.device) for n in (columns, rows))
    equal = 1 << columns.bit_length() - 1
    inside = (column + row[:, None]) % columns < equal
    return torch.where(inside, (row % 5 - 2)[:, None].to(noise.dtype), -1e4).to(noise.dtype)


def _masked(noise: torch.Tensor) -> torch.Tensor:
    """Row r sees its last r + 1 entries only, and has -inf before them: causal attention, mirrored."""
    rows, columns = noise.shape
    column, row = torch.arange(columns, device=noise.device), torch.arange(rows, device=noise.device)
    visible = columns - 1 - column <= row[:, None] % columns
    return noise.masked_fill(~visible, -torch.inf)


def _masked_out(noise: torch.Tensor) -> torch.Tensor:
    """A first row of nothing but -inf: 0 / 0, so NaN, as in torch."""
    x = noise.clone()
    x[0] = -torch.inf
    return x


def reference(x: torch.Tensor) -> torch.Tensor:
    """exp(x) / Σ exp(x) in each row, the row's maximum taken off first."""
    powers = torch.exp(x - x.amax(dim=1, keepdim=True))
    return powers / powers.sum(dim=1, keepdim=True)


def _torch(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    return torch.softmax(x, dim=1) if out is None else torch.softmax(x, dim=1, out=out)


def _torch_compile(x: torch.Tensor) -> torch.Tensor:
    return _compiled("default")(x)


def _torch_compile_max_autotune(x: torch.Tensor) -> torch.Tensor:
    """Let the compiler time several variants; without CUDA graphs, since they would copy inputs and hide launches."""
    return _compiled("max-autotune-no-cudagraphs")(x)


@functools.cache
def _compiled(mode: str) -> Callable[[torch.Tensor], torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(lambda x: torch.softmax(x, dim=1), dynamic=False, mode=mode)


BASELINES = {
    "torch": _torch,
    "torch.compile": _torch_compile,
    "torch.compile-max-autotune": _torch_compile_max_autotune,
}
