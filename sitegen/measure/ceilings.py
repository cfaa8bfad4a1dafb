"""The measured limits of this GPU: memory by mix of reads and writes, fp32 and the tensor cores by dtype.

About ten seconds.  Every probe's own rate is kept; the ceiling is the best of them.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from statistics import median
from typing import Any

import torch

from sitegen.measure.clock import PROBES
from sitegen.measure.compile import compile_probe
from sitegen.measure.correctness import wait
from sitegen.measure.inputs import generator
from sitegen.measure.memory_probes import MIXES, MemoryProbe, on_set, timed_calls
from sitegen.measure.timing import Set
from sitegen.model.record import Ceiling

MEMORY = {"memory 1:0": "read_1_0", "memory 2:1": "mix_2_1", "memory 1:1": "copy_1_1", "memory 0:1": "write_0_1"}
MEMORY_BYTES = 6 * 10**9
"""Moved by one call, all arrays together."""
TENSOR_SIZES = (4096, 8192, 16384)
BURST_CALLS, IDLE_S, SUSTAINED_S = 12, 0.2, 0.3
_BEST, _SAMPLES = 3, 20
"""So many of the fastest candidates are timed again, so often."""
_THREADS, _CHAINS, _ROUNDS = 512, 8, 1 << 16


def measure_ceilings() -> list[Ceiling]:
    torch.cuda.set_stream(torch.cuda.Stream())
    _use_device()
    found = [_memory(name, entry) for name, entry in MEMORY.items()]
    found.append(_ceiling("fp32", dict(_fp32())))
    for name, product in (("tf32", _tf32), ("bf16", _bf16), ("fp8", _fp8)):
        found += [_ceiling(name, rates)] if (rates := dict(_tensor(product))) else []
    return found


def _use_device() -> None:
    try:
        from cuda.core import Device
    except ImportError:
        return
    torch.cuda.init()
    Device(0).set_current()


def _ceiling(name: str, rates: dict[str, float]) -> Ceiling:
    return Ceiling(name, max(rates.values()), rates)


def _memory(name: str, entry: str) -> Ceiling:
    """All candidates shortly, the best again with care; two sets of gigabytes are colder than any cache."""
    probe = MemoryProbe(entry, MEMORY_BYTES // sum(MIXES[entry]))
    sets = [probe.make_set(0), probe.make_set(1)]
    probe.choose(sets)
    best = sorted(probe.candidates, key=lambda c: -probe.rates[c.name])[:_BEST]
    kept = {c.name: c for c in [*best, probe.candidates[-1]]}
    rates = {}
    for label, candidate in kept.items():
        times = timed_calls(on_set(candidate.run), cycle(sets), _SAMPLES)
        rates[label] = probe.total_bytes / (median(times) * 1e-6)
    del sets
    torch.cuda.empty_cache()
    return _ceiling(name, rates)


def _fp32() -> Iterator[tuple[str, float]]:
    """Multiply-adds in independent chains, and cuBLAS without tf32."""
    yield from _fma_chains()
    torch.set_float32_matmul_precision("highest")
    yield from _products(_operands(8192, torch.float32), 8192, bursts_only=True)


def _fma_chains() -> Iterator[tuple[str, float]]:
    try:
        from cuda.core import LaunchConfig, Stream, launch
    except ImportError:
        return
    defines = (("THREADS", str(_THREADS)), ("CHAINS", str(_CHAINS)), ("ROUNDS", str(_ROUNDS)))
    kernel = compile_probe(PROBES / "fma.cu", defines).get_kernel("fma_chains")
    blocks = 4 * torch.cuda.get_device_properties(0).multi_processor_count
    sink = torch.zeros(4, device="cuda")
    arguments = [sink.data_ptr(), *map(ctypes.c_float, (0.999, 0.001))]
    config = LaunchConfig(grid=(blocks,), block=(_THREADS,))

    def call(_: Set) -> None:
        launch(Stream.from_handle(torch.cuda.current_stream().cuda_stream), config, kernel, *arguments)

    times = timed_calls(call, cycle([Set([], [])]), 5)
    yield "FMA chains", 2.0 * _ROUNDS * _CHAINS * _THREADS * blocks / (median(times) * 1e-6)


def _tensor(product: Callable[[int], Callable[[], Any] | None]) -> Iterator[tuple[str, float]]:
    for size in TENSOR_SIZES:
        if call := product(size):
            yield from _products(call, size, bursts_only=size != 8192)
        torch.cuda.empty_cache()


def _products(call: Callable[[], Any], size: int, bursts_only: bool) -> Iterator[tuple[str, float]]:
    """In a burst after idleness, as a power-capped GPU is fastest; and after 300 ms of itself."""
    operations = 2.0 * size**3
    call()
    wait()
    time.sleep(IDLE_S)
    yield f"cuBLAS {size} burst", operations / (median(_call_times(call, BURST_CALLS)) * 1e-6)
    if bursts_only:
        return
    until = time.perf_counter() + SUSTAINED_S
    while time.perf_counter() < until:
        for _ in range(4):
            call()
        wait()
    yield f"cuBLAS {size} sustained", operations / (median(_call_times(call, _SAMPLES)) * 1e-6)


def _call_times(call: Callable[[], Any], samples: int) -> list[float]:
    """Back to back, without the two unmeasured calls that would end the burst's rest."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(samples)]
    for start, end in events:
        start.record()
        call()
        end.record()
    wait()
    return [start.elapsed_time(end) * 1000.0 for start, end in events]


def _operands(size: int, dtype: Any) -> Callable[[], Any]:
    """A product of random matrices into an output that is there already."""
    source = generator("cuda", 7)
    a, b = (torch.randn(size, size, device="cuda", generator=source).to(dtype) for _ in range(2))
    out = torch.empty(size, size, dtype=dtype, device="cuda")
    return lambda: torch.matmul(a, b, out=out)


def _tf32(size: int) -> Callable[[], Any]:
    torch.set_float32_matmul_precision("high")
    return _operands(size, torch.float32)


def _bf16(size: int) -> Callable[[], Any]:
    return _operands(size, torch.bfloat16)


def _fp8(size: int) -> Callable[[], Any] | None:
    """cuBLASLt's e4m3 product with one scale per matrix; None on a GPU without fp8."""
    if torch.cuda.get_device_capability() < (8, 9):
        return None
    source = generator("cuda", 7)
    a, b = (torch.randn(size, size, device="cuda", generator=source).to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
