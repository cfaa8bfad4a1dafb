"""The block of `gated_product`, with warps that only load.

One change: the gated product is written in Gluon, the lower level of Triton.  One warp loads, and two groups of four
warps multiply.  In `gated_product` the first slices of a tile are loaded after the tile before is stored.  A tile of
D = 2048 has only 32 slices, so this pause is a large share of its time.  Here the warp that loads goes on to the next
tile as soon as a stage of the ring is free.  Each group of warps has 64 rows of gates and of numbers to be gated.  It
waits for the products of a slice after it has started those of the next one.  While one group computes silu, the other
one may still multiply.
Gluon has no interpreter, so without a GPU `gated_product` computes.
"""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from kernels.rmsnorm.fused import rmsnorm
from kernels.transformer_block import accumulated, gated_product
from kernels.transformer_block.added_norm import add_and_norm
from kernels.transformer_block.separate import attend

ROWS, HALF, COLUMNS, DEPTH = gl.constexpr(128), gl.constexpr(64), gl.constexpr(128), gl.constexpr(64)
STAGES = gl.constexpr(4)
GROUP = gl.constexpr(16)  # rows of tiles that neighbouring programs share


# region: tiles
@gluon.jit
def corner(number, M, F):
    """Of the tile with this number: down GROUP rows of tiles before the next column of tiles."""
    across = gl.cdiv(F, COLUMNS)
    first = number // (GROUP * across) * GROUP
    height = min(gl.cdiv(M, ROWS) - first, GROUP)
    return (first + number % (GROUP * across) % height) * ROWS, number % (GROUP * across) // height * COLUMNS


# endregion


# region: load
@gluon.jit
def load(a, b, rings, M, F, K):
    """The producer: of each slice two halves of the rows, the gates and the numbers to be gated."""
    rows, weights, full, empty = rings
    i = 0  # of the slice, over all tiles
    for number in range(gl.program_id(0), gl.cdiv(M, ROWS) * gl.cdiv(F, COLUMNS), gl.num_programs(0)):
        top, left = corner(number, M, F)
        for k in range(0, K, DEPTH):
            stage = i % STAGES
            mbarrier.wait(empty.index(stage), i // STAGES & 1 ^ 1)
            mbarrier.expect(full.index(stage), 2 * (a.block_type.nbytes + b.block_type.nbytes))
            for half in gl.static_range(2):
                tma.async_copy_global_to_shared(
                    a, [top + half * HALF, k], full.index(stage), rows.index(2 * stage + half)
                )
                tma.async_copy_global_to_shared(
                    b, [k, left + half * F], full.index(stage), weights.index(2 * stage + half)
                )
            i += 1


# endregion


# region: multiply
@gluon.jit
def multiply(c, scale, rings, staged, M, F, K, CONSUMER: gl.constexpr, SCALED: gl.constexpr):
    """One consumer: 64 rows of each tile."""
    rows, weights, full, empty = rings
    SUMS: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, COLUMNS, 16])
    ours = staged.index(CONSUMER)
    i = 0
    for number in range(gl.program_id(0), gl.cdiv(M, ROWS) * gl.cdiv(F, COLUMNS), gl.num_programs(0)):
        top, left = corner(number, M, F)
        gate = gl.zeros([HALF, COLUMNS], gl.float32, SUMS)
        up = gl.zeros([HALF, COLUMNS], gl.float32, SUMS)
        for k in range(0, K, DEPTH):
            stage = i % STAGES
            mbarrier.wait(full.index(stage), i // STAGES & 1)
            slice = rows.index(2 * stage + CONSUMER)
            gate = warpgroup_mma(slice, weights.index(2 * stage), gate, use_acc=k > 0, is_async=True)
            up = warpgroup_mma(slice, weights.index(2 * stage + 1), up, use_acc=k > 0, is_async=True)
            gate, up = warpgroup_mma_wait(2, deps=[gate, up])
            if k > 0:  # the slice before is multiplied, this one keeps the tensor cores busy
                mbarrier.arrive(empty.index((i - 1) % STAGES), count=1)
            i += 1
        gate, up = warpgroup_mma_wait(0, deps=[gate, up])
        mbarrier.arrive(empty.index((i - 1) % STAGES), count=1)
        if SCALED:
            row = top + CONSUMER * HALF + gl.arange(0, HALF, gl.SliceLayout(1, SUMS))
            factor = gl.expand_dims(gl.load(scale + row, mask=row < M, other=0.0), 1)
            gate *= factor
            up *= factor
        gated = gate / (1.0 + gl.exp2(gate * -1.4426950408889634)) * up  # log2(e): exp would multiply by it as well
        tma.store_wait(0)  # the tile before has left its place
        ours.store(gated.to(gl.bfloat16))
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [top + CONSUMER * HALF, left], ours)
    tma.store_wait(0)


# endregion


# region: kernel
@gluon.jit
def gated_kernel(a, b, c, scale, M, F, K, SCALED: gl.constexpr):
    rows = gl.allocate_shared_memory(gl.bfloat16, [2 * STAGES, HALF, DEPTH], a.layout)
    weights = gl.allocate_shared_memory(gl.bfloat16, [2 * STAGES, DEPTH, COLUMNS], b.layout)
    staged = gl.allocate_shared_memory(gl.bfloat16, [2, HALF, COLUMNS], c.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    rings = rows, weights, full, empty
    gl.warp_specialize(
        [
            (multiply, (c, scale, rings, staged, M, F, K, 0, SCALED)),
            (multiply, (c, scale, rings, staged, M, F, K, 1, SCALED)),
            (load, (a, b, rings, M, F, K)),
        ],
        [4, 1],  # warps of the second consumer and of the producer; the first consumer has those of the program
        [240, 24],  # their registers a thread
    )


# endregion


def gated(a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
    """Return silu(a g) · (a u), (M, F), where g and u are the halves of the columns of b, (K, 2·F); F in eights.

    With `scale`, (M,) in float32, both products are multiplied by a number for each row.
    """
    if a.device.type == "cpu":
        return gated_product.gated_product(a, b, scale)
    (M, K), F = a.shape, b.shape[1] // 2
    out = a.new_empty(M, F)
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    from_a = TensorDescriptor.from_tensor(a, [HALF.value, DEPTH.value], layout)
    from_b = TensorDescriptor.from_tensor(b, [DEPTH.value, COLUMNS.value], layout)
    to_c = TensorDescriptor.from_tensor(out, [HALF.value, COLUMNS.value], layout)
    tiles = triton.cdiv(M, ROWS.value) * triton.cdiv(F, COLUMNS.value)
    programs = gated_product.programs_of(tiles, a.device)
    gated_kernel[(programs,)](from_a, from_b, to_c, scale, M, F, K, SCALED=scale is not None, num_warps=4)
    return out


# region: block
def transformer_block(
    x: torch.Tensor,
    w_norm1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    w_norm2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a transformer block of contiguous (B, T, D) tokens in bfloat16, with heads of 128 numbers."""
    B, T, D = x.shape
    out = torch.empty_like(x) if out is None else out
    if w_up.shape[1] % 16 or w_up.data_ptr() % 16:  # the copy engine takes rows of whole 16 bytes
        return accumulated.transformer_block(x, w_norm1, w_qkv, w_out, w_norm2, w_up, w_down, out=out)
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    mixed = attend(torch.mm(rmsnorm(tokens, w_norm1), w_qkv), B, T)
    normed = add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)
    y.addmm_(gated(normed, w_up), w_down)
    return out


# endregion
