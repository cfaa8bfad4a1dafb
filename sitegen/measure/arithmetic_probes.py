"""Measure the arithmetic ceilings of the GPU at hand: fp32 and tensor cores, per second and per SM cycle.

The ways to compute are chains of fp32 FMA, a wgmma issue loop, and the matrix products of the library.  The power cap
lowers the clock of tensor cores, so each way has two rates: in a burst after idleness, and sustained after 0.3 s of the
same calls.  The clock is measured with each rate.  The way that does the most operations per SM cycle is then measured
several times more, which gives an interval.  Rates are dense, and operands are normal random numbers.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Any

import torch

from sitegen.measure.clock import SmClock, sm_clock
from sitegen.measure.guarded_calls import wait
from sitegen.measure.inputs import generator
from sitegen.measure.probe import can_launch, launcher, spin, timed_at_once
from sitegen.measure.statistics import FEW, mean_interval
from sitegen.model.record import Ceiling, CycleRate

LIBRARY_SIZES = (4096, 8192, 16384)
BURST_CALLS, IDLE_S, SUSTAINED_S = 12, 0.2, 0.3
_SAMPLED_S, _MOST_SAMPLES = 0.1, 20
"""Seconds that the samples of a sustained rate fill, and the most samples."""
FMA_THREADS, FMA_BLOCKS, FMA_SHAPES = 512, 4, ((8, 64), (4, 128), (8, 128))
"""Threads of a block; blocks per SM; (independent chains, steps between two loop tests) of each variant."""
_FMA_STEPS = 1 << 16
SLABS, ROUNDS, WGMMAS = 4, 4, 1 << 15
"""Of the wgmma loop: slabs of 128 bytes of K; sums over K before they start from zero; wgmmas of an SM in one call.
A call takes 2.5 ms on an H200, of which 10 µs go to filling shared memory and to storing the sums."""

Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to compute."""

    name: str
    operations: float
    """Multiplications and additions of one call."""
    call: Call


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rate of a way in one burst, or in one stretch of sustained load."""

    per_second: float
    """Operations per second."""
    clock_mhz: float | None
    """Mean SM clock; None where it cannot be read."""

    @property
    def per_cycle(self) -> float:
        """Operations of the whole GPU per SM cycle; 0 where the clock is not known."""
        return self.per_second / (self.clock_mhz * 1e6) if self.clock_mhz else 0.0


Take = Callable[[Way, SmClock | None], Stretch]
"""Function that measures one stretch of a way."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """A dtype of the tensor cores: its name here and in wgmma.cu, and the largest relative error of a product."""

    name: str
    wgmma: str
    dtype: Any
    tolerance: float


TENSOR_TYPES = {
    "tf32": TensorType("tf32", "tf32", torch.float32, 1e-4),
    "bf16": TensorType("bf16", "bf16", torch.bfloat16, 1e-4),
    "fp8": TensorType("fp8", "e4m3", torch.float8_e4m3fn, 1e-2),
}
"""fp8 has a larger tolerance because the tensor cores keep about 14 bits of its sums."""


def fp32_ways() -> Iterator[Way]:
    """Yield the ways of fp32: multiply-adds in independent chains, and the library's product without tf32."""
    if can_launch():
        yield from (_fma_way(chains, steps) for chains, steps in FMA_SHAPES)
    torch.set_float32_matmul_precision("highest")
    size = LIBRARY_SIZES[1]
    yield Way(f"cuBLAS {size}", 2.0 * size**3, _matmul(size, torch.float32))


def tensor_ways(name: str) -> Iterator[Way]:
    """Yield the ways of one dtype of TENSOR_TYPES; none where the GPU does not have it."""
    kind = TENSOR_TYPES[name]
    if torch.cuda.get_device_capability()[0] == 9 and can_launch():
        yield from (_issue_way(kind, warpgroups) for warpgroups in (1, 2))
    for size in LIBRARY_SIZES:
        if call := library_product(kind, size):
            yield Way(f"cuBLAS {size}", 2.0 * size**3, call)


def arithmetic_ceiling(name: str, ways: Sequence[Way], takes: Mapping[str, Take] | None = None) -> Ceiling | None:
    """Return the best rate of the ways with all others, their clocks and the rates in SM cycles; None without a way.

    `takes` has a function for `burst` and one for `sustained`.
    """
    if not ways:
        return None
    start, clock, takes = time.perf_counter(), sm_clock(), takes or TAKES
    seen = {f"{way.name} {kind}": take(way, clock) for way in ways for kind, take in takes.items()}
    in_cycles = {kind: _cycle_rate(kind, take, ways, seen, clock) for kind, take in takes.items()}
    return Ceiling(
        name,
        max(one.per_second for one in seen.values()),
        {label: one.per_second for label, one in seen.items()},
        round(time.perf_counter() - start, 2),
        {label: one.clock_mhz for label, one in seen.items() if one.clock_mhz},
        **in_cycles,
    )


def _cycle_rate(
    kind: str, take: Take, ways: Sequence[Way], seen: Mapping[str, Stretch], clock: SmClock | None
) -> CycleRate | None:
    """Measure the way with the most operations per SM cycle FEW times more; None where the clock is not known."""
    best = max(ways, key=lambda way: seen[f"{way.name} {kind}"].per_cycle)
    again = [take(best, clock) for _ in range(FEW)]
    clocks = [one.clock_mhz for one in again if one.clock_mhz]
    if len(clocks) < FEW:
        return None
    values = tuple(one.per_cycle for one in again)
    interval = mean_interval(values)
    return CycleRate(f"{best.name} {kind}", interval.value, interval.low, interval.high, values, fmean(clocks))


def burst(way: Way, clock: SmClock | None) -> Stretch:
    """Return the rate of a burst after IDLE_S without calls."""
    time.sleep(IDLE_S)
    spin()
    return _stretch(way, timed_at_once(way.call, BURST_CALLS, clock), clock)


def sustained(way: Way, clock: SmClock | None) -> Stretch:
    """Return the rate after SUSTAINED_S of the same calls.

    Nothing waits for those calls, because the GPU would rest meanwhile.
    """
    estimate_s = 1e-6 * median(timed_at_once(way.call, 3))
    for _ in range(math.ceil(SUSTAINED_S / estimate_s)):
        way.call()
    samples = max(5, min(_MOST_SAMPLES, math.ceil(_SAMPLED_S / estimate_s)))
    return _stretch(way, timed_at_once(way.call, samples, clock), clock)


TAKES: Mapping[str, Take] = {"burst": burst, "sustained": sustained}


def _stretch(way: Way, us: Sequence[float], clock: SmClock | None) -> Stretch:
    return Stretch(way.operations / (1e-6 * median(us)), clock.mhz() if clock else None)


def _fma_way(chains: int, steps: int) -> Way:
    grid, rounds = FMA_BLOCKS * _sms(), _FMA_STEPS // steps
    defines = {"THREADS": FMA_THREADS, "CHAINS": chains, "STEPS": steps}
    launch = launcher("fma.cu", "fma_chains", defines, grid=grid, block=FMA_THREADS)
    sink = torch.zeros(1, device="cuda")
    operations = 2.0 * rounds * steps * chains * FMA_THREADS * grid
    return Way(f"FMA chains x{chains}, {steps} steps", operations, partial(launch, sink, ctypes.c_int32(rounds)))


def _issue_way(kind: TensorType, warpgroups: int) -> Way:
    loop = issue_loop(kind, warpgroups)
    loop.check()
    return Way(f"wgmma, {warpgroups} warpgroup{'s'[: warpgroups - 1]} per SM", loop.operations, loop.call)


@dataclass(frozen=True, slots=True)
class IssueLoop:
    """The kernel of probes/wgmma.cu: each block multiplies two small matrices repeatedly and stores the last sums."""

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
        """Launch the kernel."""
        self.launch(self.a, self.b, self.out, ctypes.c_int32(self.tiles))

    def error(self) -> float:
        """Return ‖out − ref‖ / ‖ref‖ of the worst block, against float64."""
        self.out.fill_(float("nan"))
        self.call()
        wait()
        expected = ROUNDS * (self.a.double() @ self.b.double().T)
        return float(((self.out.double() - expected).norm(dim=(1, 2)) / expected.norm()).max())

    def check(self) -> None:
        """Raise RuntimeError unless the products are right: a probe that does not do its work is no ceiling."""
        if not (error := self.error()) <= self.kind.tolerance:
            raise RuntimeError(f"the wgmma loop gives wrong {self.kind.name} products: relative error {error:.1e}")


def issue_loop(kind: TensorType, warpgroups: int) -> IssueLoop:
    """Return the loop with a block of so many warpgroups on each SM of this GPU."""
    rows, columns, depth = 64 * warpgroups, 256, SLABS * 128 // kind.dtype.itemsize
    defines = {"TYPE": kind.wgmma, "WARPGROUPS": warpgroups, "SLABS": SLABS, "ROUNDS": ROUNDS}
    shared = (rows + columns) * SLABS * 128 + 1024
    launch = launcher("wgmma.cu", "products", defines, grid=_sms(), block=128 * warpgroups, shared=shared)
    out = torch.empty(_sms(), rows, columns, device="cuda")
    return IssueLoop(kind, launch, _normal(rows, depth, kind, 1), _normal(columns, depth, kind, 2), out)


def library_product(kind: TensorType, size: int) -> Call | None:
    """Return a call of cuBLAS into an existing output; None where the GPU has no tensor cores for the dtype."""
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
    """Return a call of cuBLASLt's e4m3 product with one scale per matrix; None before sm_89.

    As in the wgmma loop, the sums stay in the tensor cores.
    """
    if torch.cuda.get_device_capability() < (8, 9):
        return None
    a, b = (_normal(size, size, TENSOR_TYPES["fp8"], seed) for seed in (1, 2))
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)


def _normal(rows: int, columns: int, kind: TensorType, seed: int) -> Any:
    """Return normal random numbers that the dtype holds exactly; tensor cores read the upper 19 bits of a float32."""
    values = torch.randn(rows, columns, device="cuda", generator=generator("cuda", seed))
    return (values.view(torch.int32) & ~0x1FFF).view(torch.float32) if kind.name == "tf32" else values.to(kind.dtype)


def _sms() -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)
