"""Wrong: leaves out ε.

Ordinary rows come out 0.0005 % too large, which only the tolerance of float32 notices.  Small rows come out much too
large, and a row of zeros becomes 0 / 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rmsnorm_row(x, w, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row + columns, mask=inside, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(values * values, axis=0) / N)
    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row + columns, values * scale * weights, mask=inside)


def rmsnorm(x: torch.Tensor, w: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    rmsnorm_row[(rows,)](x, w, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out
