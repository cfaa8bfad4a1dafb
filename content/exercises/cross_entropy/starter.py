"""Cross-entropy of each row: make it right for every row length and for large logits, with one pass over the row."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_row(logits, target, loss, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        values = tl.load(logits + row * N + columns).to(tl.float32)
        total += tl.sum(tl.exp(values), axis=0)
    correct = tl.load(logits + row * N + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(total) - correct)


def cross_entropy(logits: torch.Tensor, target: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the loss of each row; the check gives `out`, into which the kernel must write."""
    rows, columns = logits.shape
    out = torch.empty(rows, dtype=torch.float32, device=logits.device) if out is None else out
    cross_entropy_row[(rows,)](logits, target, out, columns, BLOCK=4096)
    return out
