"""A softmax that reads memory once: one program holds a whole row in registers.

It moves what it must, M·N elements in and M·N out, so at 8192 columns of float32 (32 KB a row) only the memory's
speed is left to limit it: several programs share an SM, and while one reduces its row the others load theirs.
The row has to fit the registers of one block.  Up to 32768 columns it does; at 65536 a thread would hold 64 values in
64 registers, so some of them spill to memory, and at 131072 most of them: right there too, and slow.
"""

import torch
import triton
import triton.language as tl


# region: kernel
@triton.jit
def softmax_row(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row + columns, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))  # the largest becomes 1, so nothing overflows
    tl.store(y + row + columns, powers * (1.0 / tl.sum(powers, axis=0)), mask=inside)


# endregion


def softmax(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Softmax of each row of a contiguous (M, N) tensor; sums in float32."""
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    block = triton.next_power_of_2(columns)
    warps = min(32, max(1, block // 512))  # 16 values a thread up to 16384 columns
    softmax_row[(rows,)](x, out, columns, BLOCK=block, num_warps=warps)
    return out
