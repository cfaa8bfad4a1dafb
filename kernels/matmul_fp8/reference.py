"""The product of two matrices of 8-bit numbers; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]

TILE = 128
"""Depth of a tile, or a multiple of it: the ragged rest begins where the last whole tile ends."""
TERMS = 1600
"""How many products of an exact sum are not zero, on average, where K is above 1600.  The sum of 1600 random signs
seldom leaves -256 to 256, beyond which bfloat16 skips integers."""


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random numbers, rounded to 8 bits."""
    shapes = {"a": (dims["M"], dims["K"]), "b": (dims["N"], dims["K"])}
    return {n: torch.randn(s, generator=generator, device=device).to(dtype) for n, s in shapes.items()}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: 1, -1 and 0, whose sums are exact in any order of additions.
    `one_hot`: a single 1 in each row of A, so that each row of the product is a column of B, bit for bit: the first,
    the first beyond the last whole tile, the last; and one after the other."""
    M, N, K = dims["M"], dims["N"], dims["K"]
    if name == "exact":
        signs = {"generator": generator, "device": device}
        a, b = (torch.randint(0, 2, (rows, K), **signs) * 2.0 - 1.0 for rows in (M, N))
        keep = torch.rand(N, K, generator=generator, device=device) < TERMS / K
        yield {"a": a.to(dtype), "b": (b * keep).to(dtype)}
    if name == "one_hot":
        row = torch.arange(M, device=device)
        chosen = [torch.full_like(row, k) for k in sorted({0, K // TILE * TILE % K, K - 1})]
        for column in [*chosen, row % K]:
            a = torch.zeros(M, K, device=device)
            a[row, column] = 1
            yield {**make_inputs(dims, dtype, generator, device), "a": a.to(dtype)}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a bᵀ: both operands have their numbers along K."""
    return a @ b.T


def _cublaslt(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """cuBLASLt with fast accumulation: the sums stay in the tensor cores, as in our kernels.  The scales are 1.

    K and N that are no multiples of 16, which it refuses, and a CPU go through float32.
    """
    out = a.new_empty(a.shape[0], b.shape[0], dtype=torch.bfloat16) if out is None else out
    if not a.is_cuda or a.shape[1] % 16 or b.shape[0] % 16:
        return out.copy_(a.float() @ b.float().T)
    scale = _one(a.device)
    return torch._scaled_mm(a, b.T, scale, scale, out_dtype=torch.bfloat16, use_fast_accum=True, out=out)


@functools.cache
def _one(device: torch.device) -> torch.Tensor:
    """Return the scale 1.  It is made once, since a call that is timed should launch the product alone."""
    return torch.ones((), device=device)


BASELINES = {"cublaslt": _cublaslt}
