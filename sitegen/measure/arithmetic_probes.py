"""How fast this GPU multiplies and adds: chains of fp32 FMA, a wgmma issue loop, and the library's matrix products.

Operations per second by way.  Tensor cores are held down by the power cap, so each way has two figures: a burst after
idleness, and sustained after a while of itself.  Rates are dense, operands are normal random numbers.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch

from sitegen.measure.correctness import wait
from sitegen.measure.inputs import generator
from sitegen.measure.probe import can_launch, launcher, timed_at_once, timed_calls

LIBRARY_SIZES = (4096, 8192, 16384)
BURST_CALLS, IDLE_S, SUSTAINED_S = 12, 0.2, 0.3
_SAMPLED_S, _MOST_SAMPLES = 0.1, 20
"""Of a sustained figure."""
FMA_THREADS, FMA_BLOCKS, FMA_SHAPES = 512, 4, ((8, 64), (4, 128), (8, 128))
"""Threads and blocks per SM; (chains, steps between two loop tests)."""
_FMA_STEPS = 1 << 16
SLABS, ROUNDS, WGMMAS = 4, 4, 1 << 15
"""Of the wgmma loop: slabs of 128 bytes of K; sums over K before they start from zero; wgmmas of an SM in one call.
A call takes 2.5 ms on an H200, of which 10 µs go to filling shared memory and to storing the sums."""

Rates = Iterator[tuple[str, float]]
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class TensorType:
    """How a dtype is called, by us and by wgmma.cu, and how far the sums of a product may be from float64."""

    name: str
    wgmma: str
    dtype: Any
    tolerance: float


TENSOR_TYPES = {
    "tf32": TensorType("tf32", "tf32", torch.float32, 1e-4),
    "bf16": TensorType("bf16", "bf16", torch.bfloat16, 1e-4),
    "fp8": TensorType("fp8", "e4m3", torch.float8_e4m3fn, 1e-2),
}
"""Sums of fp8 products keep about 14 bits in the tensor cores."""


def fp32_rates() -> Rates:
    """Multiply-adds in independent chains, and the library without tf32."""
    if can_launch():
        for chains, steps in FMA_SHAPES:
            yield f"FMA chains x{chains}, {steps} steps", _fma_rate(chains, steps)
    torch.set_float32_matmul_precision("highest")
    operations = 2.0 * LIBRARY_SIZES[1] ** 3
    yield f"cuBLAS {LIBRARY_SIZES[1]}", operations / burst_s(_matmul(LIBRARY_SIZES[1], torch.float32))


def tensor_rates(name: str) -> Rates:
    """Our own loop on Hopper, and the library; nothing where the GPU has no such type."""
    for label, operations, call in _tensor_calls(TENSOR_TYPES[name]):
        call()
        wait()
        seconds = burst_s(call)
        yield f"{label} burst", operations / seconds
        yield f"{label} sustained", operations / sustained_s(call, seconds)


def burst_s(call: Call) -> float:
    """Seconds of a call, in a few of them after so long without any."""
    time.sleep(IDLE_S)
    return 1e-6 * median(timed_at_once(call, BURST_CALLS))


def sustained_s(call: Call, estimate_s: float) -> float:
    """Seconds of a call after so long of itself; never waited for, since the GPU would rest meanwhile."""
    for _ in range(math.ceil(SUSTAINED_S / estimate_s)):
        call()
    samples = max(5, min(_MOST_SAMPLES, math.ceil(_SAMPLED_S / estimate_s)))
    return 1e-6 * median(timed_at_once(call, samples))


def _fma_rate(chains: int, steps: int) -> float:
    grid, rounds = FMA_BLOCKS * _sms(), _FMA_STEPS // steps
    defines = {"THREADS": FMA_THREADS, "CHAINS": chains, "STEPS": steps}
    launch = launcher("fma.cu", "fma_chains", defines, grid, FMA_THREADS)
    sink = torch.zeros(1, device="cuda")
    seconds = median(timed_calls(partial(launch, sink, ctypes.c_int32(rounds)), 5)) * 1e-6
    return 2.0 * rounds * steps * chains * FMA_THREADS * grid / seconds


def _tensor_calls(kind: TensorType) -> Iterator[tuple[str, float, Call]]:
    """(label, operations of a call, call)."""
    if torch.cuda.get_device_capability()[0] == 9 and can_launch():
        for warpgroups in (1, 2):
            loop = issue_loop(kind, warpgroups)
            loop.check()
            yield f"wgmma, {warpgroups} warpgroup{'s'[: warpgroups - 1]} per SM", loop.operations, loop.call
    for size in LIBRARY_SIZES:
        if call := library_product(kind, size):
            yield f"cuBLAS {size}", 2.0 * size**3, call
        torch.cuda.empty_cache()


@dataclass(frozen=True, slots=True)
class IssueLoop:
    """probes/wgmma.cu: each block multiplies two small matrices again and again and stores the last sums."""

    kind: TensorType
    launch: Callable[..., Any]
    """Takes `a`, `b`, `out` and the number of tiles."""
    a: Any
    """rows × depth."""
    b: Any
    """columns × depth."""
    out: Any
    """blocks × rows × columns, float32."""

    @property
    def tiles(self) -> int:
        """How often each block starts its sums from zero in one call."""
        warpgroups: int = self.a.shape[0] // 64
        return WGMMAS // (warpgroups * SLABS * 4 * ROUNDS)

    @property
    def operations(self) -> float:
        """Multiplications and additions of one call."""
        products: int = self.out.numel() * self.a.shape[1]
        return 2.0 * self.tiles * ROUNDS * products

    def call(self) -> None:
        self.launch(self.a, self.b, self.out, ctypes.c_int32(self.tiles))

    def error(self) -> float:
        """‖out − ref‖ / ‖ref‖ of the worst block, against float64."""
        self.out.fill_(float("nan"))
        self.call()
        wait()
        expected = ROUNDS * (self.a.double() @ self.b.double().T)
        return float(((self.out.double() - expected).norm(dim=(1, 2)) / expected.norm()).max())

    def check(self) -> None:
        """A probe that does not do its work is no ceiling.  Raises RuntimeError."""
        if not (error := self.error()) <= self.kind.tolerance:
            raise RuntimeError(f"the wgmma loop does not multiply {self.kind.name} right: relative error {error:.1e}")


def issue_loop(kind: TensorType, warpgroups: int) -> IssueLoop:
    """Return the loop with a block of so many warpgroups on each SM of this GPU."""
    rows, columns, depth = 64 * warpgroups, 256, SLABS * 128 // kind.dtype.itemsize
    defines = {"TYPE": kind.wgmma, "WARPGROUPS": warpgroups, "SLABS": SLABS, "ROUNDS": ROUNDS}
    shared = (rows + columns) * SLABS * 128 + 1024
    launch = launcher("wgmma.cu", "products", defines, _sms(), 128 * warpgroups, shared)
    out = torch.empty(_sms(), rows, columns, device="cuda")
    return IssueLoop(kind, launch, _normal(rows, depth, kind, 1), _normal(columns, depth, kind, 2), out)


def library_product(kind: TensorType, size: int) -> Call | None:
    """cuBLAS into an output that is there already; None where the GPU has no such tensor cores."""
    if kind.name == "fp8":
        return _scaled_matmul(size)
    if torch.cuda.get_device_capability() < (8, 0):
        return None
    torch.set_float32_matmul_precision("high")
    return _matmul(size, kind.dtype)


def _matmul(size: int, dtype: Any) -> Call:
    source = generator("cuda", 7)
    a, b = (torch.randn(size, size, device="cuda", generator=source).to(dtype) for _ in range(2))
    out = torch.empty(size, size, dtype=dtype, device="cuda")
    return lambda: torch.matmul(a, b, out=out)


def _scaled_matmul(size: int) -> Call | None:
    """cuBLASLt's e4m3 product with one scale per matrix and sums left in the tensor cores, as the wgmma loop does."""
    if torch.cuda.get_device_capability() < (8, 9):
        return None
    a, b = (_normal(size, size, TENSOR_TYPES["fp8"], seed) for seed in (1, 2))
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)


def _normal(rows: int, columns: int, kind: TensorType, seed: int) -> Any:
    """Numbers that the type holds exactly: of a float32 the tensor cores read the upper 19 bits."""
    made = torch.randn(rows, columns, device="cuda", generator=generator("cuda", seed))
    return (made.view(torch.int32) & ~0x1FFF).view(torch.float32) if kind.name == "tf32" else made.to(kind.dtype)


def _sms() -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)
