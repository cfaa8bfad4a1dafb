"""The gradients of `tile_overlapped`, whose dx is stored with a hint that L2 may give it up first.

The hint is `cache_modifier=".cs"`, which becomes `st.global.cs`: the line is likely to be used once.  Neither launch
reads dx.  The partial sums, 8.4 MB at 8192 columns, are stored without the hint, so that more of them can stay in L2
until the second launch reads them.  That launch, `add_partials`, is the one of `tile_overlapped`.
In the counters of an H100, at 8192 rows and columns, DRAM moves less than for `tile_overlapped` in float32.  In
bfloat16, one run counted less and a later one as much: the hint alone does not keep the sums in L2.
"""

import functools

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents

from kernels.layernorm_backward.tile_overlapped import COLUMNS, PROGRAMS, Tensors, add_partials


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
        ROWS=triton.next_power_of_2(PROGRAMS),
        COLUMNS=COLUMNS,
        num_warps=4,
        launch_pdl=early,
    )
    return dx, dw, db


@functools.cache
def _partials(device: torch.device, stream: int, columns: int) -> torch.Tensor:
    """One for each stream, kept: two streams may work at the same time, and a call allocates nothing."""
    return torch.empty(2 * PROGRAMS * columns, dtype=torch.float32, device=device)
