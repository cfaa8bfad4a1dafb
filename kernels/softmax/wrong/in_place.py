"""Wrong: keeps its exponentials in the input, which belongs to the caller."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row + columns, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(x + row + columns, powers, mask=inside)
    tl.store(y + row + columns, powers / tl.sum(powers, axis=0), mask=inside)


def softmax(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    softmax_row[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out
