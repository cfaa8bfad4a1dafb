"""Wrong: the columns beyond the row count as 0, so each adds mean² to the sum of squares."""

import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_row(x, w, b, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / N
    distances = values - mean
    scale = 1.0 / tl.sqrt(tl.sum(distances * distances, axis=0) / N + 1e-5)
    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    biases = tl.load(b + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row + columns, distances * scale * weights + biases, mask=inside)


def layernorm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    layernorm_row[(rows,)](x, w, b, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out
