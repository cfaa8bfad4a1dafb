"""The block of `accumulated`, with silu(gate) · up in the product that makes gate and up.

One change: our own product takes the place of cuBLAS's.  A tile has 128 rows and 128 columns of gates and the same 128
columns of the numbers to be gated: two products with the same rows of A, in as many registers as a tile of 128 x 256.
Each thread then holds a gate and its number, and stores one result.  Of 4·F numbers a token that were written or read
again (2·F written by the product, 2·F read by the pass) none is left; the F results are written as before.
The passes that are left move 6 units of M·D numbers.
The loops are those of `tile_persistent` of matmul.  One loop over the slices of all tiles, as in `tile_fused`, would
set both sums to zero inside of the loop.  The compiler does that with instructions that write the registers of the
sums.  It then lets each instruction of the tensor cores wait for the one before.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.matmul.tile_persistent import corner, programs_for
from kernels.rmsnorm.fused import rmsnorm
from kernels.transformer_block import accumulated
from kernels.transformer_block.added_norm import add_and_norm
from kernels.transformer_block.separate import attend

ROWS, COLUMNS, DEPTH = 128, 128, 64


# region: kernel
@triton.jit
def gated_tiles(
    a, b, c, scale, M, F, K,
    SCALED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(M, ROWS) * tl.cdiv(F, COLUMNS)
    for number in range(tl.program_id(0), tiles, tl.num_programs(0)):
        top, left = corner(number, M, F, ROWS, COLUMNS, GROUP)
        gate = tl.zeros([ROWS, COLUMNS], tl.float32)
        up = tl.zeros([ROWS, COLUMNS], tl.float32)
        for k in range(0, K, DEPTH):
            rows = a.load([top, k])
            gate = tl.dot(rows, b.load([k, left]), gate)
            up = tl.dot(rows, b.load([k, F + left]), up)
        if SCALED:
            row = top + tl.arange(0, ROWS)
            factor = tl.load(scale + row, mask=row < M, other=0.0)[:, None]
            gate *= factor
            up *= factor
        c.store([top, left], (gate * tl.sigmoid(gate) * up).to(c.dtype))


# endregion


def programs_of(tiles: int, device: torch.device) -> int:
    """Return as few programs as need no more turns than one on each SM would."""
    sms = torch.cuda.get_device_properties(device).multi_processor_count if device.type != "cpu" else 1
    return programs_for(tiles, sms)


def gated_product(a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
    """Return silu(a g) · (a u), (M, F), where g and u are the halves of the columns of b, (K, 2·F); F in eights.

    With `scale`, (M,) in float32, both products are multiplied by a number for each row.
    """
    (M, K), F = a.shape, b.shape[1] // 2
    gated = a.new_empty(M, F)
    from_a = TensorDescriptor.from_tensor(a, [ROWS, DEPTH])
    from_b = TensorDescriptor.from_tensor(b, [DEPTH, COLUMNS])
    to_c = TensorDescriptor.from_tensor(gated, [ROWS, COLUMNS])
    programs = programs_of(triton.cdiv(M, ROWS) * triton.cdiv(F, COLUMNS), a.device)
    gated_tiles[(programs,)](
        from_a, from_b, to_c, scale, M, F, K,
        SCALED=scale is not None, ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, GROUP=16, num_warps=8, num_stages=4,
    )  # fmt: skip
    return gated


# region: block
def transformer_block(
    x: torch.Tensor,
    w_norm1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    w_norm2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a transformer block of contiguous (B, T, D) tokens in bfloat16, with heads of 128 numbers."""
    B, T, D = x.shape
    out = torch.empty_like(x) if out is None else out
    if w_up.shape[1] % 16 or w_up.data_ptr() % 16:  # the copy engine takes rows of whole 16 bytes
        return accumulated.transformer_block(x, w_norm1, w_qkv, w_out, w_norm2, w_up, w_down, out=out)
    tokens, y = x.view(B * T, D), out.view(B * T, D)
    mixed = attend(torch.mm(rmsnorm(tokens, w_norm1), w_qkv), B, T)
    normed = add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)
    y.addmm_(gated_product(normed, w_up), w_down)
    return out


# endregion
