"""Measure the ceilings of the GPU at hand: memory by mix of reads and writes, L2, shared memory, fp32, tensor cores.

A ceiling is the best rate of its probes.  The rates of the probes are kept too; of memory, those of the fastest three
candidates, of the fastest bulk copy and of torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch

from sitegen.measure.arithmetic_probes import TENSOR_TYPES, Way, arithmetic_ceiling, fp32_ways, tensor_ways
from sitegen.measure.cache_probes import l2_rates, shared_rates
from sitegen.measure.memory_probes import MIXES, MemoryProbe
from sitegen.model.record import Ceiling

MEMORY = {"memory 1:0": "read_1_0", "memory 2:1": "mix_2_1", "memory 1:1": "copy_1_1", "memory 0:1": "write_0_1"}
MEMORY_BYTES = 6 * 10**9
"""Bytes that one call moves, all arrays together."""
_BEST, _SAMPLES = 3, 20
"""Number of the fastest candidates that are timed again, and the samples of each."""

Rates = Iterator[tuple[str, float]]
"""Name of the probe, bytes or operations per second."""


def measure_ceilings() -> list[Ceiling]:
    """Return the ceilings that this GPU has and this machine can measure."""
    use_device()
    found = [measure(name, rates) for name, rates in PROBES.items()]
    found += [measure_arithmetic(name, ways) for name, ways in ARITHMETIC.items()]
    return [ceiling for ceiling in found if ceiling]


def use_device() -> None:
    """Use one stream of our own, for torch and for cuda.core."""
    torch.cuda.set_stream(torch.cuda.Stream())
    try:
        from cuda.core import Device
    except ImportError:
        return
    torch.cuda.init()
    Device(0).set_current()


def measure(name: str, rates: Callable[[], Rates]) -> Ceiling | None:
    """Return the best rate with all others and the seconds that they took; None without a probe."""
    start = time.perf_counter()
    probes = dict(rates())
    torch.cuda.empty_cache()
    seconds = round(time.perf_counter() - start, 2)
    return Ceiling(name, max(probes.values()), probes, seconds) if probes else None


def measure_arithmetic(name: str, ways: Callable[[], Iterator[Way]]) -> Ceiling | None:
    """Return the ceiling of one kind of arithmetic; None where the GPU does not have it."""
    ceiling = arithmetic_ceiling(name, list(ways()))
    torch.cuda.empty_cache()
    return ceiling


def memory_rates(entry: str) -> Rates:
    """Yield the rates of the fastest candidates, of the fastest bulk copy and of torch; `entry` is a mix of MIXES.

    All candidates are timed briefly first.  Two sets of several gigabytes leave every cache cold.
    """
    probe = MemoryProbe(entry, MEMORY_BYTES // sum(MIXES[entry]))
    sets = [probe.make_set(0), probe.make_set(1)]
    probe.choose(sets)
    fastest = sorted(probe.candidates, key=lambda c: -probe.rates[c.name])
    bulk = [candidate for candidate in fastest if candidate.name.startswith("bulk")]
    for candidate in dict.fromkeys([*fastest[:_BEST], *bulk[:1], probe.candidates[-1]]):
        yield candidate.name, probe.rate(candidate, sets, _SAMPLES)


PROBES: Mapping[str, Callable[[], Rates]] = {
    **{name: partial(memory_rates, entry) for name, entry in MEMORY.items()},
    "L2": l2_rates,
    "shared": shared_rates,
}
ARITHMETIC: Mapping[str, Callable[[], Iterator[Way]]] = {
    "fp32": fp32_ways,
    **{name: partial(tensor_ways, name) for name in TENSOR_TYPES},
}
