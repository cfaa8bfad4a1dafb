"""The gradients of `tile_streaming`, whose second launch discards the partial sums when it has added them.

`discard.global.L2` marks a line of L2 as without contents, so it is never written to DRAM.  In `tile_streaming` the
rows of the next call push the partial sums, 8.4 MB at 8192 columns, out of L2, and L2 writes them to DRAM, although
nothing reads them again.
A line is discarded only where one program reads all of it: where the number of columns is a multiple of COLUMNS.
"""

import functools

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

PROGRAMS = 128  # one for each of 128 SMs; an H100 or H200 has 132
COLUMNS = 32  # that a program of the second launch adds: a line of 128 bytes in each row
LINE = tl.constexpr(32)  # numbers in a line of L2
ADDING_WARPS = 4  # of a program of the second launch
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


# region: kernel
@triton.jit
def gradients(
    x, dy, w, means, rstds, dx, partials, M, N, STAGES: tl.constexpr, EARLY: tl.constexpr, BLOCK: tl.constexpr
):
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    of_w = tl.zeros([BLOCK], tl.float32)
    of_b = tl.zeros([BLOCK], tl.float32)
    for row in tl.range(tl.program_id(0).to(tl.int64), M, tl.num_programs(0), num_stages=STAGES):
        first = row * N
        values = tl.load(x + first + columns, mask=inside, other=0.0).to(tl.float32)
        grads = tl.load(dy + first + columns, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstds + row)
        normals = (values - tl.load(means + row)) * rstd
        weighted = grads * weights  # 0 beyond the row, as grads is
        shift = tl.sum(weighted, axis=0) / N
        slope = tl.sum(weighted * normals, axis=0) / N
        result = (weighted - shift - normals * slope) * rstd
        tl.store(dx + first + columns, result, mask=inside, cache_modifier=".cs")
        of_w += grads * normals
        of_b += grads
    if EARLY:
        gdc_launch_dependents()
    place = tl.program_id(0) * N + columns
    tl.store(partials + place, of_w, mask=inside)
    tl.store(partials + tl.num_programs(0) * N + place, of_b, mask=inside)


@triton.jit
def add_partials(
    partials, dw, db, rows, N, EARLY: tl.constexpr, DISCARD: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < N)
    if EARLY:
        gdc_wait()
    of_w = tl.load(partials + row * N + column, mask=inside, other=0.0)
    of_b = tl.load(partials + (rows + row) * N + column, mask=inside, other=0.0)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(dw + columns, tl.sum(of_w, axis=0), mask=columns < N)
    tl.store(db + columns, tl.sum(of_b, axis=0), mask=columns < N)
    if DISCARD:
        tl.debug_barrier()  # all warps have their numbers in registers
        discard_lines(partials, rows, N, ROWS, COLUMNS)


@triton.jit
def discard_lines(partials, rows, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.minimum(tl.arange(0, 2 * ROWS), 2 * rows - 1)[:, None]
    line = tl.arange(0, COLUMNS // LINE)[None, :] * LINE  # inside the row: its length is a multiple of COLUMNS
    address = (partials + row * N + tl.program_id(0) * COLUMNS + line).to(tl.int64)
    tl.inline_asm_elementwise(
        "discard.global.L2 [$1], 128; mov.b32 $0, 0;", "=r,l", [address], dtype=tl.int32, is_pure=False, pack=1
    )


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
    staged = block * x.element_size() <= 16384  # rows of 16 KB: two stages of x and dy take 64 KB
    warps = min(8 if staged else 16, max(1, block // 512))
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
        STAGES=3 if staged else 1,
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
        DISCARD=early and columns % COLUMNS == 0,
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
