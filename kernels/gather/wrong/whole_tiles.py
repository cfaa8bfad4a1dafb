"""Wrong: rounds the number of programs down, so that the last rows are not written."""

import torch
import triton
import triton.language as tl

ROWS = 256


@triton.jit
def gather_tile(x, index, y, W, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (column < W)[None, :]
    source = tl.load(index + row)
    numbers = tl.load(x + source[:, None] * W + column[None, :], mask=inside)
    tl.store(y + row[:, None] * W + column[None, :], numbers, mask=inside)


def gather(x: torch.Tensor, index: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows, width = len(index), x.shape[1]
    out = x.new_empty(rows, width) if out is None else out
    if rows >= ROWS:
        gather_tile[(rows // ROWS,)](x, index, out, width, ROWS=ROWS, COLUMNS=triton.next_power_of_2(width))
    return out
