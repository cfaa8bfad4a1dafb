"""The attention of `tile_tma` in Gluon, the lower level of Triton: warps that load, and two groups of warps in turns.

Gluon has the same Python syntax as Triton.  The author places tensors in registers and shared memory, starts copies and
products, and waits for them, where Triton decides that itself.  Changes from `tile_specialised`:
- A consumer puts the product of weights and values off by one tile.  It was meant to compute new weights while that
  product runs.  In the listing for an H100 the wait for the product comes before the exponentials, so only those of the
  other consumer can run beside it.
- The two consumers take turns: each starts its products only when the other one has started its own.
- Only the tile at the diagonal is masked.
The file pingpong.cu has the same design in CUDA.  Gluon has no interpreter, so without a GPU `tile_tma` computes.
"""

import math

import torch
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

from kernels.attention import tile_tma

ROWS, KEYS, WIDTH = gl.constexpr(128), gl.constexpr(128), gl.constexpr(128)
HALF, STAGES = gl.constexpr(64), gl.constexpr(2)


# region: load
@gluon.jit
def load(q, k, v, queries, q_full, rings, head, top, tiles):
    """The producer: the last keys first, and behind the keys of a tile the values of the tile before."""
    keys, values, k_full, k_empty, v_full, v_empty = rings
    for half in gl.static_range(2):
        mbarrier.expect(q_full.index(half), q.block_type.nbytes)
        tma.async_copy_global_to_shared(q, [head + top + half * HALF, 0], q_full.index(half), queries.index(half))
    for i in range(tiles + 1):
        if i < tiles:
            stage, phase = i % STAGES, i // STAGES & 1
            row = head + (tiles - 1 - i) * KEYS
            mbarrier.wait(k_empty.index(stage), phase ^ 1)
            mbarrier.expect(k_full.index(stage), k.block_type.nbytes)
            tma.async_copy_global_to_shared(k, [row, 0], k_full.index(stage), keys.index(stage))
        if i > 0:
            stage, phase = (i - 1) % STAGES, (i - 1) // STAGES & 1
            row = head + (tiles - i) * KEYS
            mbarrier.wait(v_empty.index(stage), phase ^ 1)
            mbarrier.expect(v_full.index(stage), v.block_type.nbytes)
            tma.async_copy_global_to_shared(v, [row, 0], v_full.index(stage), values.index(stage))


# endregion


# region: compute
@gluon.jit
def weigh(scores, largest, total, unit):
    """Weights from scores, and by what earlier sums must be multiplied; the maximum is kept in units of log2."""
    new = gl.maximum(largest, gl.max(scores, axis=1) * unit)
    weights = gl.exp2(scores * unit - gl.expand_dims(new, 1))
    shrink = gl.exp2(largest - new)
    return weights, shrink, new, total * shrink + gl.sum(weights, axis=1)


@gluon.jit
def attend(o, queries, q_full, rings, turns, head, top, tiles, unit, CONSUMER: gl.constexpr, CAUSAL: gl.constexpr):
    """One consumer: 64 queries."""
    keys, values, k_full, k_empty, v_full, v_empty = rings
    SCORES: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, KEYS, 16])
    SUMS: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, WIDTH, 16])
    WEIGHTS: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=SUMS, k_width=2)
    ours = queries.index(CONSUMER)
    first = top + CONSUMER * HALF
    largest = gl.full([HALF], -float("inf"), gl.float32, gl.SliceLayout(1, SCORES))
    total = gl.zeros([HALF], gl.float32, gl.SliceLayout(1, SCORES))
    nothing = gl.zeros([HALF, KEYS], gl.float32, SCORES)
    sums = gl.zeros([HALF, WIDTH], gl.float32, SUMS)

    mbarrier.wait(q_full.index(CONSUMER), 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(ours, keys.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=[scores])
    mbarrier.arrive(k_empty.index(0), count=1)
    if CAUSAL:
        row = first + gl.arange(0, HALF, gl.SliceLayout(1, SCORES))
        key = (tiles - 1) * KEYS + gl.arange(0, KEYS, gl.SliceLayout(0, SCORES))
        scores = gl.where(gl.expand_dims(key, 0) <= gl.expand_dims(row, 1), scores, -float("inf"))
    powers, shrink, largest, total = weigh(scores, largest, total, unit)
    weights = gl.convert_layout(powers.to(gl.bfloat16), WEIGHTS)
    for i in range(1, tiles):
        stage, before = i % STAGES, (i - 1) % STAGES
        mbarrier.wait(k_full.index(stage), i // STAGES & 1)
        mbarrier.wait(turns.index(CONSUMER), (i - 1) & 1)
        scores = warpgroup_mma(ours, keys.index(stage).permute((1, 0)), nothing, use_acc=False, is_async=True)
        mbarrier.wait(v_full.index(before), (i - 1) // STAGES & 1)
        sums = warpgroup_mma(weights, values.index(before), sums, is_async=True)
        mbarrier.arrive(turns.index(1 - CONSUMER), count=1)
        scores = warpgroup_mma_wait(1, deps=[scores])
        mbarrier.arrive(k_empty.index(stage), count=1)
        powers, shrink, largest, total = weigh(scores, largest, total, unit)
        sums = warpgroup_mma_wait(0, deps=[sums])
        mbarrier.arrive(v_empty.index(before), count=1)
        sums = sums * gl.expand_dims(gl.convert_layout(shrink, gl.SliceLayout(1, SUMS)), 1)
        weights = gl.convert_layout(powers.to(gl.bfloat16), WEIGHTS)
    last = (tiles - 1) % STAGES
    mbarrier.wait(v_full.index(last), (tiles - 1) // STAGES & 1)
    sums = warpgroup_mma(weights, values.index(last), sums, is_async=True)
    sums = warpgroup_mma_wait(0, deps=[sums])
    sums = sums / gl.expand_dims(gl.convert_layout(total, gl.SliceLayout(1, SUMS)), 1)
    ours.store(sums.to(gl.bfloat16))
    fence_async_shared()
    tma.async_copy_shared_to_global(o, [head + first, 0], ours)
    tma.store_wait(0)


# endregion


# region: kernel
@gluon.jit
def attention_gluon(q, k, v, o, T, unit, CAUSAL: gl.constexpr):
    head = gl.program_id(1) * T
    top = (gl.num_programs(0) - 1 - gl.program_id(0)) * ROWS  # the longest first
    tiles = top // KEYS + 1 if CAUSAL else T // KEYS
    queries = gl.allocate_shared_memory(gl.bfloat16, [2, HALF, WIDTH], q.layout)
    keys = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, WIDTH], k.layout)
    values = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, WIDTH], v.layout)
    q_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    k_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(q_full.index(i), count=1)
        mbarrier.init(turns.index(i), count=1)
    for i in gl.static_range(STAGES):
        mbarrier.init(k_full.index(i), count=1)
        mbarrier.init(v_full.index(i), count=1)
        mbarrier.init(k_empty.index(i), count=2)
        mbarrier.init(v_empty.index(i), count=2)
    mbarrier.arrive(turns.index(0), count=1)  # the first turn is that of consumer 0
    rings = keys, values, k_full, k_empty, v_full, v_empty
    gl.warp_specialize(
        [
            (attend, (o, queries, q_full, rings, turns, head, top, tiles, unit, 0, CAUSAL)),
            (attend, (o, queries, q_full, rings, turns, head, top, tiles, unit, 1, CAUSAL)),
            (load, (q, k, v, queries, q_full, rings, head, top, tiles)),
        ],
        [4, 1],  # warps of the second consumer and of the producer; the first consumer has those of the program
        [240, 24],  # their registers a thread
    )


# endregion


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Attention of contiguous (B, H, T, 128) tensors; a T that is no multiple of 128 goes to `tile_tma`."""
    B, H, T, _ = q.shape
    if T % ROWS.value or q.device.type == "cpu":
        return tile_tma.attention(q, k, v, causal=causal, out=out)
    out = torch.empty_like(q) if out is None else out
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    to_q, to_k, to_v, to_o = (
        TensorDescriptor.from_tensor(tensor.view(B * H * T, WIDTH.value), [rows, WIDTH.value], layout)
        for tensor, rows in ((q, 64), (k, KEYS.value), (v, KEYS.value), (out, 64))
    )
    attention_gluon[(T // ROWS.value, B * H)](
        to_q, to_k, to_v, to_o, T, math.log2(math.e) * WIDTH.value**-0.5,
        CAUSAL=causal, num_warps=4,
    )  # fmt: skip
    return out
