"""A product of 8-bit matrices in Triton: a program computes one tile of C, 128 rows of A times 256 rows of B.

Both matrices have their numbers along K, as wgmma wants them for 8 bits.  `tl.dot` becomes wgmma, which adds in the
tensor cores' own precision: fast accumulation.  The loads go through `cp.async` with a mask and an address for each 16
bytes.  Programs that run at the same time work on GROUP rows of tiles and so read the same parts of A and B.
Shared memory has room for three slices along K, so that two could be on their way while one is multiplied.  The
compiler does not leave it so.  In the listing every wgmma is waited for before the next one starts, and the loads of
the slice after next stand behind the fourth.  So only one slice is on its way while one is multiplied.
"""

import torch
import triton
import triton.language as tl

ROWS, COLUMNS, DEPTH = 128, 256, 128


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
    from_b = b + columns[:, None] * K + depth[None, :]

    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    for k in range(0, K, DEPTH):
        left_part = tl.load(from_a, mask=(rows[:, None] < M) & (k + depth[None, :] < K), other=0.0)
        right_part = tl.load(from_b, mask=(columns[:, None] < N) & (k + depth[None, :] < K), other=0.0)
        sums = tl.dot(left_part, tl.trans(right_part), sums)
        from_a += DEPTH
        from_b += DEPTH

    to = c + rows[:, None] * N + columns[None, :]
    tl.store(to, sums.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


# endregion


def matmul_fp8(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a bᵀ in bfloat16, of contiguous (M, K) and (N, K) matrices."""
    (M, K), N = a.shape, b.shape[0]
    out = a.new_empty(M, N, dtype=torch.bfloat16) if out is None else out
    programs = triton.cdiv(M, ROWS) * triton.cdiv(N, COLUMNS)
    matmul_tile[(programs,)](
        a, b, out, M, N, K, ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, GROUP=8, num_warps=8, num_stages=3
    )
    return out
