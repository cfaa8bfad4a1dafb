"""The gradients of `tile_resident`, whose next row is on its way into registers, in place of shared memory.

A program asks for x and dy of its next row before it works on the present one.  These loads carry `evict_first`, which
the loads of `num_stages` cannot: Triton leaves the hint out of `cp.async`.  16 warps hold both rows in registers.
"""

import functools

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

PROGRAMS = 128  # one for each of 128 SMs; an H100 or H200 has 132
COLUMNS = 16  # that a program of the second launch adds
WARPS = 16
ADDING_WARPS = 4  # of a program of the second launch
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


# region: kernel
@triton.jit
def gradients(x, dy, w, means, rstds, dx, partials, M, N, EARLY: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    start = tl.program_id(0).to(tl.int64)
    next_x = load_row(x, start, N, columns, inside)
    next_dy = load_row(dy, start, N, columns, inside)
    next_mean = tl.load(means + start)
    next_rstd = tl.load(rstds + start)
    weights = tl.load(w + columns, mask=inside, other=0.0)
    of_w = tl.zeros([BLOCK], tl.float32)
    of_b = tl.zeros([BLOCK], tl.float32)
    for row in tl.range(start, M, tl.num_programs(0), num_stages=1):
        values = next_x.to(tl.float32)
        grads = next_dy.to(tl.float32)
        mean = next_mean
        rstd = next_rstd
        after = tl.minimum(row + tl.num_programs(0), M - 1)
        next_x = load_row(x, after, N, columns, inside)
        next_dy = load_row(dy, after, N, columns, inside)
        next_mean = tl.load(means + after)
        next_rstd = tl.load(rstds + after)
        normals = (values - mean) * rstd
        weighted = grads * weights.to(tl.float32)  # 0 beyond the row, as grads is
        shift = tl.sum(weighted, axis=0) / N
        slope = tl.sum(weighted * normals, axis=0) / N
        result = (weighted - shift - normals * slope) * rstd
        tl.store(dx + row * N + columns, result, mask=inside, cache_modifier=".cs")
        of_w += grads * normals
        of_b += grads
    if EARLY:
        gdc_launch_dependents()
    place = tl.program_id(0) * N + columns
    tl.store(partials + place, of_w, mask=inside, eviction_policy="evict_last")
    tl.store(partials + tl.num_programs(0) * N + place, of_b, mask=inside, eviction_policy="evict_last")


@triton.jit
def load_row(matrix, row, N, columns, inside):
    return tl.load(matrix + row * N + columns, mask=inside, other=0.0, eviction_policy="evict_first")


@triton.jit
def add_partials(partials, dw, db, rows, N, EARLY: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < N)
    if EARLY:
        gdc_wait()
    of_w = tl.load(partials + row * N + column, mask=inside, other=0.0, eviction_policy="evict_last")
    of_b = tl.load(partials + (rows + row) * N + column, mask=inside, other=0.0, eviction_policy="evict_last")
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(dw + columns, tl.sum(of_w, axis=0), mask=columns < N)
    tl.store(db + columns, tl.sum(of_b, axis=0), mask=columns < N)


# endregion


def layernorm_backward(
    x: torch.Tensor,
    dy: torch.Tensor,
    w: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    *,
    out: Tensors | None = None,
) -> Tensors:
    """Return dx (M, N), dw (N,) and db (N,) for contiguous x and dy (M, N), w (N,), and a mean and 1/σ for each row."""
    rows, columns = x.shape
    dx, dw, db = out or (torch.empty_like(x), torch.empty_like(w), torch.empty_like(w))
    programs = min(PROGRAMS, rows)
    stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else 0
    partials = _partials(x.device, stream, columns)
    block = triton.next_power_of_2(columns)
    warps = min(WARPS, max(1, block // 512))
    early = x.is_cuda  # Triton's interpreter has no launches that overlap
    gradients[(programs,)](
        x,
        dy,
        w,
        mean,
        rstd,
        dx,
        partials,
        rows,
        columns,
        EARLY=early,
        BLOCK=block,
        num_warps=warps,
    )
    add_partials[(triton.cdiv(columns, COLUMNS),)](
        partials,
        dw,
        db,
        programs,
        columns,
        EARLY=early,
        ROWS=triton.next_power_of_2(PROGRAMS),
        COLUMNS=COLUMNS,
        num_warps=ADDING_WARPS,
        launch_pdl=early,
    )
    return dx, dw, db


@functools.cache
def _partials(device: torch.device, stream: int, columns: int) -> torch.Tensor:
    """One for each stream, kept: two streams may work at the same time, and a call allocates nothing."""
    return torch.empty(2 * PROGRAMS * columns, dtype=torch.float32, device=device)
