"""A kernel that asks Triton's interpreter whether it can compute with bfloat16; imported only without a GPU."""
# mypy: disable-error-code="untyped-decorator,no-untyped-def"

import triton
import triton.language as tl


@triton.jit
def multiply_add(x, w, z, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < N
    tl.store(z + at, tl.load(x + at, mask=inside) * tl.load(w + at, mask=inside) + 0.5, mask=inside)
