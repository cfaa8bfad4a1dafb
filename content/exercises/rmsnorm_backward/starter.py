"""RMSNorm backward: dx is right; add up the gradient of the weights over all rows, in a fixed order."""

import torch
import triton
import triton.language as tl


@triton.jit
def gradients(x, dy, w, rstds, dx, dw, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weights = tl.load(w + columns, mask=inside, other=0.0)
    values = tl.load(x + row * N + columns, mask=inside, other=0.0)
    grads = tl.load(dy + row * N + columns, mask=inside, other=0.0)
    rstd = tl.load(rstds + row)
    normals = values * rstd
    slope = tl.sum(grads * weights * normals, axis=0) / N
    tl.store(dx + row * N + columns, (grads * weights - normals * slope) * rstd, mask=inside)
    tl.store(dw + columns, grads * normals, mask=inside)


def rmsnorm_backward(
    x: torch.Tensor,
    dy: torch.Tensor,
    w: torch.Tensor,
    rstd: torch.Tensor,
    *,
    out: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return dx and dw; the check gives `out`, two tensors into which the kernel must write."""
    rows, columns = x.shape
    dx, dw = out or (torch.empty_like(x), torch.empty_like(w))
    block = triton.next_power_of_2(columns)
    warps = min(16, max(1, block // 512))  # 16 numbers or more for each of their threads
    gradients[(rows,)](x, dy, w, rstd, dx, dw, columns, BLOCK=block, num_warps=warps)
    return dx, dw
