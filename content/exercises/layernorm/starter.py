"""LayerNorm of each row: make it right for every row length, and for rows whose mean is far from 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_row(x, w, b, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0) * N
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row + columns)
    count = tl.cast(N, tl.float32)
    mean = tl.div_rn(tl.sum(values, axis=0), count)  # `/` may be off in the last digit
    variance = tl.sum(values * values, axis=0) / count - mean * mean
    normals = (values - mean) / tl.sqrt(variance + 1e-5)
    weights = tl.load(w + columns)
    biases = tl.load(b + columns)
    tl.store(y + row + columns, normals * weights + biases, mask=columns < N)


def layernorm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the normalised rows; the check gives `out`, into which the kernel must write."""
    rows, columns = x.shape
    out = torch.empty_like(x) if out is None else out
    block = triton.next_power_of_2(columns)
    warps = min(32, max(1, block // 512))  # 16 numbers for each of their threads
    layernorm_row[(rows,)](x, w, b, out, columns, BLOCK=block, num_warps=warps)
    return out
