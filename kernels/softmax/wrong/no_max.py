"""Wrong: the maximum is not taken off first.  Right for small numbers; from 89 on exp overflows to infinity."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    powers = tl.exp(tl.load(x + row + columns, mask=inside, other=-float("inf")).to(tl.float32))
    tl.store(y + row + columns, powers / tl.sum(powers, axis=0), mask=inside)


def softmax(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    softmax_row[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out
