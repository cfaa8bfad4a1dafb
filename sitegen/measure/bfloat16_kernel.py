"""A kernel that asks Triton's interpreter whether it can compute with bfloat16; imported only without a GPU."""
# mypy: disable-error-code="untyped-decorator,no-untyped-def"

import triton
import triton.language as tl


@triton.jit
def multiply_and_sum(x, w, z, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < N
    weights = tl.load(w + at, mask=inside, other=0.0)
    tl.store(z + at, tl.load(x + at, mask=inside) * weights + tl.sum(weights, axis=0), mask=inside)
