"""The gradients of `tile`, whose second launch begins early and whose dx is stored so that L2 may give it up first.

`launch_pdl` lets the programs of the second launch start when all programs of the first have called
`gdc_launch_dependents`, behind their last row.  In `gdc_wait` they wait for the end of the first launch, when its sums
are in memory.  In `tile`, the second launch starts only after that.
The store of dx carries the hint `cache_modifier=".cs"`: its line is likely to be used once.  The partial sums, 4.2 MB
at 8192 columns, are stored without the hint, so that more of them can stay in L2 until the second launch reads them.
Two smaller changes: 128 programs in place of 132 take 64 rows each where M is 8192, and a program of the second launch
adds 16 columns in place of 32, so twice as many programs share its work.
"""

import functools

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

PROGRAMS = 128  # one for each of 128 SMs; an H100 or H200 has 132
COLUMNS = 16  # that a program of the second launch adds
Tensors = tuple[torch.Tensor, torch.Tensor]


# region: kernel
@triton.jit
def gradients(x, dy, w, rstds, dx, partials, M, N, STAGES: tl.constexpr, EARLY: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    of_w = tl.zeros([BLOCK], tl.float32)
    for row in tl.range(tl.program_id(0).to(tl.int64), M, tl.num_programs(0), num_stages=STAGES):
        first = row * N
        values = tl.load(x + first + columns, mask=inside, other=0.0).to(tl.float32)
        grads = tl.load(dy + first + columns, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstds + row)
        normals = values * rstd
        weighted = grads * weights  # 0 beyond the row, as grads is
        slope = tl.sum(weighted * normals, axis=0) / N
        result = (weighted - normals * slope) * rstd
        tl.store(dx + first + columns, result, mask=inside, cache_modifier=".cs")
        of_w += grads * normals
    if EARLY:
        gdc_launch_dependents()
    place = tl.program_id(0) * N + columns
    tl.store(partials + place, of_w, mask=inside)


@triton.jit
def add_partials(partials, dw, rows, N, EARLY: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < N)
    if EARLY:
        gdc_wait()
    of_w = tl.load(partials + row * N + column, mask=inside, other=0.0)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(dw + columns, tl.sum(of_w, axis=0), mask=columns < N)


# endregion


def rmsnorm_backward(
    x: torch.Tensor,
    dy: torch.Tensor,
    w: torch.Tensor,
    rstd: torch.Tensor,
    *,
    out: Tensors | None = None,
) -> Tensors:
    """Return dx (M, N) and dw (N,) for contiguous x and dy (M, N), w (N,), and 1/RMS for each row."""
    rows, columns = x.shape
    dx, dw = out or (torch.empty_like(x), torch.empty_like(w))
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
        programs,
        columns,
        EARLY=early,
        ROWS=triton.next_power_of_2(PROGRAMS),
        COLUMNS=COLUMNS,
        num_warps=4,
        launch_pdl=early,
    )
    return dx, dw


@functools.cache
def _partials(device: torch.device, stream: int, columns: int) -> torch.Tensor:
    """One for each stream, kept: two streams may work at the same time, and a call allocates nothing."""
    return torch.empty(PROGRAMS * columns, dtype=torch.float32, device=device)
