"""The loss and the gradient by the two kernels that compute one of them each.

The first writes the loss.  A third, small kernel adds the target's logit to it, which gives log Σ exp.  The second
reads the logits again.  Two reads and one write of M·N elements.
Where the target's logit is -inf the loss is inf, log Σ exp becomes NaN, and so does the gradient of the row.
"""

import torch
import triton
import triton.language as tl

from kernels.cross_entropy import tile as forward
from kernels.cross_entropy_backward import tile as backward


# region: kernel
@triton.jit
def sums_of_exponentials(logits, target, loss, lse, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    correct = tl.load(target + row, mask=row < M, other=0)
    logit = tl.load(logits + row.to(tl.int64) * N + correct, mask=row < M, other=0.0).to(tl.float32)
    tl.store(lse + row, tl.load(loss + row, mask=row < M) + logit, mask=row < M)


# endregion


def cross_entropy_fused(
    logits: torch.Tensor,
    target: torch.Tensor,
    dloss: torch.Tensor,
    *,
    out: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss (M,) in float32 and the gradient of a contiguous (M, N) tensor of logits."""
    rows, columns = logits.shape
    if out is None:
        out = torch.empty(rows, dtype=torch.float32, device=logits.device), torch.empty_like(logits)
    loss, dlogits = out
    lse = torch.empty_like(loss)
    forward.cross_entropy(logits, target, out=loss)
    sums_of_exponentials[(triton.cdiv(rows, 128),)](logits, target, loss, lse, rows, columns, BLOCK=128)
    backward.cross_entropy_backward(logits, target, lse, dloss, out=dlogits)
    return loss, dlogits
