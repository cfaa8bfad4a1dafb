"""A transpose in Triton by the copy engine (TMA): tiles are loaded and stored by one instruction or two.

A descriptor tells the copy engine the address and shape of a matrix and the shape of a tile.  `load` asks for a tile,
which appears in shared memory, swizzled; `store` hands a tile back.  The swizzle allows 128 bytes of a row at a time.
So a tile with rows of 256 bytes takes two instructions, which two warps start: each load and store in float32, and each
store in bfloat16.  The threads compute no addresses of global memory and hold no registers for loads that are under
way, and the engine leaves out what lies beyond the edges.
The threads still turn the tile: they read it from shared memory, wait for each other, and write it back turned, to the
same place.
The copy engine takes only matrices whose rows begin at multiples of 16 bytes; the others are left to tile.py.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.transpose.tile import transpose as transpose_by_pointers

TILES = {4: (64, 64, 8), 2: (128, 32, 4)}
"""(rows, columns, warps), by the size of an element."""


# region: kernel
@triton.jit
def transpose_descriptor(x, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    top, left = tl.program_id(1) * ROWS, tl.program_id(0) * COLUMNS
    y.store([left, top], x.load([top, left]).T)


# endregion


def transpose(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The (N, M) transpose of a contiguous (M, N) matrix."""
    M, N = x.shape
    out = x.new_empty(N, M) if out is None else out
    vec = 16 // x.element_size()
    if M % vec or N % vec or (x.data_ptr() | out.data_ptr()) % 16:
        return transpose_by_pointers(x, out=out)
    rows, columns, warps = TILES[x.element_size()]
    from_x = TensorDescriptor.from_tensor(x, [rows, columns])
    to_y = TensorDescriptor.from_tensor(out, [columns, rows])
    grid = (triton.cdiv(N, columns), triton.cdiv(M, rows))
    transpose_descriptor[grid](from_x, to_y, ROWS=rows, COLUMNS=columns, num_warps=warps)
    return out
