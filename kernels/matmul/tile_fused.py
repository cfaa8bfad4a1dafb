"""The product of `tile_persistent`, with one loop over the slices of all tiles.

Three changes.  `flatten=True` makes one loop of the loop over tiles and the loop over slices.  In two loops the
pipeline of loads empties at the end of each tile and fills at the beginning of the next.  In one loop the first slices
of the next tile are loaded while the last ones of this tile are multiplied and its sums are stored.
A tile is stored in two halves of 128 columns.  Each half needs 32 KB of shared memory, the whole needs 64 KB.  That
makes room for a fourth stage: 4 x 48 KB + 32 KB of 227 KB.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.matmul import tile
from kernels.matmul.tile_persistent import corner, programs_for

ROWS, COLUMNS, DEPTH = 128, 256, 64


# region: kernel
@triton.jit
def matmul_fused(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tiles = tl.cdiv(M, ROWS) * tl.cdiv(N, COLUMNS)
    for number in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        top, left = corner(number, M, N, ROWS, COLUMNS, GROUP)
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, K, DEPTH):
            sums = tl.dot(a.load([top, k]), b.load([k, left]), sums)
        # `split` takes the last dimension apart, so the halves of the columns become the last dimension first.
        halves = tl.permute(tl.reshape(sums, (ROWS, 2, COLUMNS // 2)), (0, 2, 1))
        left_half, right_half = tl.split(halves)
        c.store([top, left], left_half.to(c.dtype))
        c.store([top, left + COLUMNS // 2], right_half.to(c.dtype))


# endregion


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The product of contiguous (M, K) and (K, N) matrices in bfloat16; sums in float32."""
    (M, K), N = a.shape, b.shape[1]
    out = a.new_empty(M, N) if out is None else out
    if N % 8 or K % 8 or any(matrix.data_ptr() % 16 for matrix in (a, b, out)):
        return tile.matmul(a, b, out=out)
    from_a = TensorDescriptor.from_tensor(a, [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(b, [DEPTH, COLUMNS])
    to_c = TensorDescriptor.from_tensor(out, [ROWS, COLUMNS // 2])
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 1
    programs = programs_for(triton.cdiv(M, ROWS) * triton.cdiv(N, COLUMNS), sms)
    matmul_fused[(programs,)](
        from_a, from_b, to_c, M, N, K, ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, GROUP=16, num_warps=8, num_stages=4
    )
    return out
