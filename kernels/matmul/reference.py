"""What a matrix product is; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]

LARGEST = {torch.bfloat16: 1, torch.float32: 4095}
"""Of the integers in A: twelve bits in float32, one more than TF32 keeps."""
TERMS = 1600
"""Numbers of a column of B that are not 0 in `exact`, on average, when K is above 1600: any order of sums is exact."""
TILE = 64
"""A depth that tiles have, or a multiple of theirs: where its last whole one ends, the ragged rest begins."""


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random numbers."""
    shapes = {"a": (dims["M"], dims["K"]), "b": (dims["K"], dims["N"])}
    return {n: torch.randn(s, generator=generator, device=device, dtype=dtype) for n, s in shapes.items()}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`exact`: integers whose sums float32 holds in any order of additions; only the result is rounded.
    `one_hot`: a single 1 in each row of A, so that each row of the product is a row of B, bit for bit: the first,
    the first beyond the last whole tile, the last; and one after the other."""
    M, K = dims["M"], dims["K"]
    if name == "exact":
        yield _integers(dims, dtype, generator, device)
    if name == "one_hot":
        row = torch.arange(M, device=device)
        chosen = [torch.full_like(row, k) for k in sorted({0, K // TILE * TILE % K, K - 1})]
        for column in [*chosen, row % K]:
            made = make_inputs(dims, dtype, generator, device)
            made["a"].zero_()[row, column] = 1
            yield made


def _integers(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """A of integers; B of 1, -1 and, when a column has more than TERMS entries, 0."""
    M, N, K = dims["M"], dims["N"], dims["K"]
    largest = LARGEST[dtype]
    a = torch.randint(-largest, largest + 1, (M, K), generator=generator, device=device, dtype=torch.int32)
    sign = torch.randint(0, 2, (K, N), generator=generator, device=device, dtype=torch.int32) * 2 - 1
    keep = torch.rand(K, N, generator=generator, device=device) < TERMS / K
    return {"a": a.to(dtype), "b": (sign * keep).to(dtype)}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def _cublas(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Sums in float32 whatever the dtype, and no TF32 for float32."""
    _sum_in_float32()
    return torch.matmul(a, b, out=out)


def _torch_compile_max_autotune(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Let the compiler time cuBLAS and its own Triton kernels; without CUDA graphs, since they would copy inputs and
    hide launches.  In its default mode torch.compile calls cuBLAS."""
    _sum_in_float32()
    return _compiled()(a, b)


def _sum_in_float32() -> None:
    """Set what the sums of a product are made in, in each call: an implementation in the same process may have set
    something else."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


@functools.cache
def _compiled() -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(torch.matmul, dynamic=False, mode="max-autotune-no-cudagraphs")


BASELINES = {"cublas": _cublas, "torch.compile-max-autotune": _torch_compile_max_autotune}
