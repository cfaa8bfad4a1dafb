"""A scan in Triton, in three launches: the sum of each tile, the scan of these sums, the scan of each tile.

A tile can be scanned when the sum of all numbers before it is known.  The first launch reads all numbers for the sums
of the tiles, and the third reads them again: two reads and one write of N numbers, where one read and one write would
do.  The second launch is one program and works on one number a tile.  A launch sees all that the launch before has
written, so no program waits for another one, and every call adds in the same order.
"""

import functools

import torch
import triton
import triton.language as tl

TILE = 8192  # numbers: 32 for each of 256 threads
BLOCK = 8192  # sums of tiles that are scanned at a time


# region: kernel
@triton.jit
def sum_tiles(x, sums, N, TILE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < N, other=0.0), axis=0))


@triton.jit
def scan_sums(sums, COUNT, BLOCK: tl.constexpr):
    """Replace the sum of each tile by the sum up to its end."""
    before = 0.0
    for start in range(0, COUNT, BLOCK):
        i = start + tl.arange(0, BLOCK)
        values = tl.load(sums + i, mask=i < COUNT, other=0.0)
        tl.store(sums + i, before + tl.cumsum(values, axis=0), mask=i < COUNT)
        before += tl.sum(values, axis=0)


@triton.jit
def scan_tiles(x, sums, y, N, TILE: tl.constexpr):
    tile = tl.program_id(0)
    i = tile.to(tl.int64) * TILE + tl.arange(0, TILE)
    before = tl.load(sums + tile - 1, mask=tile > 0, other=0.0)
    tl.store(y + i, before + tl.cumsum(tl.load(x + i, mask=i < N, other=0.0), axis=0), mask=i < N)


# endregion


def scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The inclusive prefix sums of a contiguous tensor of N floats."""
    out = torch.empty_like(x) if out is None else out
    tiles = triton.cdiv(x.numel(), TILE)
    stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else 0
    sums = _sums(x.device, stream, tiles)
    sum_tiles[(tiles,)](x, sums, x.numel(), TILE=TILE, num_warps=8)
    scan_sums[(1,)](sums, tiles, BLOCK=BLOCK, num_warps=16)
    scan_tiles[(tiles,)](x, sums, out, x.numel(), TILE=TILE, num_warps=8)
    return out


@functools.cache
def _sums(device: torch.device, stream: int, tiles: int) -> torch.Tensor:
    """One for each stream and number of tiles, kept: streams may scan at once, and only a first call allocates."""
    return torch.empty(tiles, dtype=torch.float32, device=device)
