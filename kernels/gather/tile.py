"""A gather in Triton: a program moves a tile of rows, and the compiler chooses the width of its accesses.

N indices and N·W numbers are read, N·W numbers are written.  The addresses of a tile are a column of row numbers plus a
row of column numbers.  From their form the compiler knows which addresses are neighbours: indices of neighbouring rows,
and numbers of one row.  It knows nothing of the rows that the index names.  For W = 1 it loads single numbers from the
table, for W = 4 or 128 16 bytes at a time.
"""

import torch
import triton
import triton.language as tl


# region: kernel
@triton.jit
def gather_tile(x, index, y, N, W: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    source = tl.load(index + row, mask=row < N, other=0).to(tl.int64)
    if W == 1:  # a tile of one column would lose its width to rearrangements between loads and stores
        tl.store(y + row, tl.load(x + source, mask=row < N), mask=row < N)
    else:
        column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < W)[None, :]
        numbers = tl.load(x + source[:, None] * W + column[None, :], mask=inside)
        tl.store(y + row[:, None] * W + column[None, :], numbers, mask=inside)


# endregion


def gather(x: torch.Tensor, index: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return row index[i] of a contiguous (M, W) table at place i; `index` holds N rows in int32."""
    rows, width = len(index), x.shape[1]
    out = x.new_empty(rows, width) if out is None else out
    columns = min(128, triton.next_power_of_2(width))
    tile = 2048 // columns  # 2048 numbers: 16 for each of 128 threads
    grid = triton.cdiv(rows, tile), triton.cdiv(width, columns)
    gather_tile[grid](x, index, out, rows, W=width, ROWS=tile, COLUMNS=columns, num_warps=4)
    return out
