"""The gradient of cross-entropy in Triton: a program takes BLOCK columns of a row.

Each program needs three numbers of its row: the saved log Σ exp(logits), the class, and the gradient of the loss.  One
read and one write of M·N elements.
"""

import torch
import triton
import triton.language as tl

BLOCK = 4096


# region: kernel
@triton.jit
def gradient_of_tile(logits, target, lse, dloss, dlogits, N, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(logits + row * N + columns, mask=inside, other=0.0).to(tl.float32)
    probabilities = tl.exp(values - tl.load(lse + row))
    hits = tl.where(columns == tl.load(target + row), 1.0, 0.0)
    gradients = (probabilities - hits) * tl.load(dloss + row)
    tl.store(dlogits + row * N + columns, gradients.to(dlogits.dtype.element_ty), mask=inside)


# endregion


def cross_entropy_backward(
    logits: torch.Tensor,
    target: torch.Tensor,
    lse: torch.Tensor,
    dloss: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the gradient of the logits, a contiguous (M, N) tensor; lse and dloss are (M,) in float32."""
    rows, columns = logits.shape
    out = torch.empty_like(logits) if out is None else out
    grid = (triton.cdiv(columns, BLOCK), rows)
    gradient_of_tile[grid](logits, target, lse, dloss, out, columns, BLOCK=BLOCK, num_warps=4)
    return out
