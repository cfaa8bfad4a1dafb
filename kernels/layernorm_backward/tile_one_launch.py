"""The gradients of `tile_resident` in one launch, whose programs wait for each other and then share the addition.

The launch is cooperative: the driver starts it only when all its programs have a place on the GPU.  So a program can
wait until the last one has stored its partial sums.  Then each program adds 64 of 8192 columns.  In `tile_resident` a
second launch begins when the first one has ended.
The count of arrivals goes on from launch to launch, so nothing has to reset it.
"""

import functools

import torch
import triton
import triton.language as tl

PROGRAMS = 128  # one for each of 128 SMs; an H100 or H200 has 132
COLUMNS = 64  # that a program adds: 128 programs share 8192
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


# region: kernel
@triton.jit
def gradients(
    x,
    dy,
    w,
    means,
    rstds,
    dx,
    dw,
    db,
    partials,
    arrivals,
    M,
    N,
    STAGES: tl.constexpr,
    FUSED: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
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
    place = tl.program_id(0) * N + columns
    tl.store(partials + place, of_w, mask=inside, eviction_policy="evict_last")
    tl.store(partials + tl.num_programs(0) * N + place, of_b, mask=inside, eviction_policy="evict_last")
    if FUSED:
        wait_for_all(arrivals)
        for group in range(tl.program_id(0), tl.cdiv(N, COLUMNS), tl.num_programs(0)):
            add_columns(group, partials, dw, db, tl.num_programs(0), N, ROWS, COLUMNS)


@triton.jit
def wait_for_all(arrivals):
    """Wait until all programs of the launch have stored their partial sums; all of them have to be on the GPU."""
    tl.debug_barrier()  # all warps of this program have stored
    count = tl.num_programs(0)
    before = tl.atomic_add(arrivals, 1, sem="acq_rel")
    last = before - before % count + count
    while tl.atomic_add(arrivals, 0, sem="acquire") < last:
        pass
    tl.debug_barrier()


@triton.jit
def add_columns(group, partials, dw, db, rows, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    columns = group * COLUMNS + tl.arange(0, COLUMNS)
    column = columns[None, :]
    inside = (row < rows) & (column < N)
    of_w = tl.load(partials + row * N + column, mask=inside, other=0.0, eviction_policy="evict_last")
    of_b = tl.load(partials + (rows + row) * N + column, mask=inside, other=0.0, eviction_policy="evict_last")
    tl.store(dw + columns, tl.sum(of_w, axis=0), mask=columns < N)
    tl.store(db + columns, tl.sum(of_b, axis=0), mask=columns < N)


@triton.jit
def add_partials(partials, dw, db, rows, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    add_columns(tl.program_id(0), partials, dw, db, rows, N, ROWS, COLUMNS)


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
    stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else 0
    programs = min(PROGRAMS, rows, _sms(x.device))
    partials, arrivals = _partials(x.device, stream, columns), _arrivals(x.device, stream, programs)
    block = triton.next_power_of_2(columns)
    staged = block * x.element_size() <= 16384  # rows of 16 KB: two stages of x and dy take 64 KB
    warps = min(8 if staged else 16, max(1, block // 512))
    fused = x.is_cuda  # Triton's interpreter runs one program after the other: none may wait for a later one
    gradients[(programs,)](
        x,
        dy,
        w,
        mean,
        rstd,
        dx,
        dw,
        db,
        partials,
        arrivals,
        rows,
        columns,
        STAGES=3 if staged else 1,
        FUSED=fused,
        BLOCK=block,
        ROWS=triton.next_power_of_2(PROGRAMS),
        COLUMNS=COLUMNS,
        num_warps=warps,
        launch_cooperative_grid=fused,
    )
    if not fused:
        add_partials[(triton.cdiv(columns, COLUMNS),)](
            partials, dw, db, programs, columns, ROWS=triton.next_power_of_2(PROGRAMS), COLUMNS=COLUMNS
        )
    return dx, dw, db


@functools.cache
def _partials(device: torch.device, stream: int, columns: int) -> torch.Tensor:
    """One for each stream, kept: two streams may work at the same time, and a call allocates nothing."""
    return torch.empty(2 * PROGRAMS * columns, dtype=torch.float32, device=device)


@functools.cache
def _arrivals(device: torch.device, stream: int, programs: int) -> torch.Tensor:
    """A count that is a multiple of `programs` between two launches, so each number of programs has its own."""
    return torch.zeros(1, dtype=torch.int64, device=device)


@functools.cache
def _sms(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else PROGRAMS
