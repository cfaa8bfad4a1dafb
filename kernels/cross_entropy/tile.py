"""Cross-entropy in Triton: a program passes over its row once, and every lane carries a maximum and a sum.

A tile is 8 pieces of 1024 columns.  The layout gives each thread the same columns of all pieces, so the maximum over
the pieces needs no other thread.  A lane scales its sum once for 8 elements and then adds 8 exponentials.
N logits are read once, and one number is written.
"""

import torch
import triton
import triton.language as tl

PIECES, COLUMNS = 8, 1024


# region: kernel
@triton.jit
def cross_entropy_row(logits, target, loss, N, PIECES: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, PIECES)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    m = tl.full([COLUMNS], -3.4e38, tl.float32)  # finite: -inf - -inf would be NaN in a lane that saw no value
    d = tl.zeros([COLUMNS], tl.float32)
    for start in range(0, N, PIECES * COLUMNS):
        columns = start + place
        values = tl.load(logits + row * N + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
        largest = tl.maximum(m, tl.max(values, axis=0))
        d = d * tl.exp(m - largest) + tl.sum(tl.exp(values - largest[None, :]), axis=0)
        m = largest
    largest = tl.max(m, axis=0)
    total = tl.sum(d * tl.exp(m - largest), axis=0)
    correct = tl.load(logits + row * N + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(total) + (largest - correct))


# endregion


def cross_entropy(logits: torch.Tensor, target: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return -log softmax(logits)[target] of each row of a contiguous (M, N) tensor; (M,) in float32."""
    rows, columns = logits.shape
    out = torch.empty(rows, dtype=torch.float32, device=logits.device) if out is None else out
    cross_entropy_row[(rows,)](logits, target, out, columns, PIECES=PIECES, COLUMNS=COLUMNS, num_warps=4)
    return out
