"""The product of `tile_tma`, with programs that stay and take one tile after another.

One change: the number of programs.  With a program for each tile the hardware starts a new one on an SM whenever one
ends; a tile's first loads wait for its program.  Here there are no more programs than SMs and each loops over tiles.
512 tiles on 132 SMs are four turns, and so they are with 128 programs.  Four SMs are left idle, and their power is left
to the others: a matrix product of this size is limited by the power that the GPU may take.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.matmul import tile

ROWS, COLUMNS, DEPTH = 128, 256, 64


# region: kernel
@triton.jit
def corner(number, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUP: tl.constexpr):
    """Of the tile with this number: down GROUP rows of tiles before the next column of tiles."""
    across = tl.cdiv(N, COLUMNS)
    first = number // (GROUP * across) * GROUP
    height = min(tl.cdiv(M, ROWS) - first, GROUP)
    return (first + number % (GROUP * across) % height) * ROWS, number % (GROUP * across) // height * COLUMNS


@triton.jit
def matmul_persistent(
    a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr
):
    tiles = tl.cdiv(M, ROWS) * tl.cdiv(N, COLUMNS)
    for number in range(tl.program_id(0), tiles, tl.num_programs(0)):
        top, left = corner(number, M, N, ROWS, COLUMNS, GROUP)
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, K, DEPTH):
            sums = tl.dot(a.load([top, k]), b.load([k, left]), sums)
        c.store([top, left], sums.to(c.dtype))


# endregion


def programs_for(tiles: int, places: int) -> int:
    """As few as need no more turns than one program on each SM would."""
    return triton.cdiv(tiles, triton.cdiv(tiles, places))


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The product of contiguous (M, K) and (K, N) matrices in bfloat16; sums in float32."""
    (M, K), N = a.shape, b.shape[1]
    out = a.new_empty(M, N) if out is None else out
    if N % 8 or K % 8 or any(matrix.data_ptr() % 16 for matrix in (a, b, out)):
        return tile.matmul(a, b, out=out)
    from_a = TensorDescriptor.from_tensor(a, [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(b, [DEPTH, COLUMNS])
    to_c = TensorDescriptor.from_tensor(out, [ROWS, COLUMNS])
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 1
    programs = programs_for(triton.cdiv(M, ROWS) * triton.cdiv(N, COLUMNS), sms)
    matmul_persistent[(programs,)](
        from_a, from_b, to_c, M, N, K, ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, GROUP=16, num_warps=8, num_stages=3
    )
    return out
