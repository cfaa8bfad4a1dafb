"""A matrix product in Triton: a program computes one tile of C, 128 rows of A times 256 columns of B.

2·M·N·K operations, half of them multiplications.  A tile of 128 x 256 needs 384 numbers for each step along K and does
32768 multiplications with them: in bfloat16 85 operations for each byte that comes from L2.  Programs that run at the
same time work on GROUP rows of tiles and so read the same parts of A and B, and L2 gives most of them.  In bfloat16 at
4096, the DRAM of an H100 reads 187 MB, 2.8 times the 67 MB of A and B.  Without L2 it would be 1.6 GB.
In float32 the tensor cores are left alone, since they would round the inputs to TF32; `ieee` means fused multiply-adds,
one for each lane and clock, and a smaller tile, since the sums of 128 x 256 would not fit beside the operands.
In bfloat16 shared memory has room for three slices along K, 144 KB: while one is multiplied the next two are on their
way.  In float32 it has room for two, 64 KB: while one is multiplied the next is on its way.  The loads of the slice
after next start when nine tenths of the multiply-adds are done.  By then all numbers of the current slice lie in
registers, and its place in shared memory is free.
"""

import torch
import triton
import triton.language as tl

TILES = {torch.bfloat16: (128, 256, 64), torch.float32: (128, 128, 32)}
"""(rows, columns, depth)."""


# region: kernel
@triton.jit
def matmul_tile(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    # Programs go down GROUP rows of tiles before the next column of tiles.
    program, across = tl.program_id(0), tl.cdiv(N, COLUMNS)
    first = program // (GROUP * across) * GROUP
    height = min(tl.cdiv(M, ROWS) - first, GROUP)
    top = first + program % (GROUP * across) % height
    left = program % (GROUP * across) // height

    rows = (top * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = (left * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    depth = tl.arange(0, DEPTH)
    from_a = a + rows[:, None] * K + depth[None, :]
    from_b = b + depth[:, None].to(tl.int64) * N + columns[None, :]

    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    for k in range(0, K, DEPTH):
        left_part = tl.load(from_a, mask=(rows[:, None] < M) & (k + depth[None, :] < K), other=0.0)
        right_part = tl.load(from_b, mask=(k + depth[:, None] < K) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(left_part, right_part, sums, input_precision="ieee")
        from_a += DEPTH
        from_b += DEPTH * N

    to = c + rows[:, None] * N + columns[None, :]
    tl.store(to, sums.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


# endregion


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The product of contiguous (M, K) and (K, N) matrices; sums in float32."""
    (M, K), N = a.shape, b.shape[1]
    out = a.new_empty(M, N) if out is None else out
    rows, columns, depth = TILES[a.dtype]
    programs = triton.cdiv(M, rows) * triton.cdiv(N, columns)
    matmul_tile[(programs,)](
        a, b, out, M, N, K, ROWS=rows, COLUMNS=columns, DEPTH=depth, GROUP=8, num_warps=8, num_stages=3
    )
    return out
