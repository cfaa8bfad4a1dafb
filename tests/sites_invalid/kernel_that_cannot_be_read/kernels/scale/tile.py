import torch
import triton
import triton.language as tl


# region: kernel
@triton.jit
def scale_kernel(y_ptr, x_ptr, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, 2 * tl.load(x_ptr + cols, mask=cols < N), mask=cols < N)


# endregion


def scale(x, *, out=None):
    out = torch.empty_like(x) if out is None else out
    scale_kernel[(triton.cdiv(x.numel(), 1024),)](out, x, x.numel(), BLOCK=1024)
    return out
