"""What a workload takes at least, and the measured limit that it runs into.

of-ceiling is the floor over the time, where floor = max(bytes / memory ceiling, operations / compute ceiling) and the
memory ceiling is that of the nearest mix of reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.kernel import Kernel, Scalar, Workload
from sitegen.model.record import Ceiling

COMPUTE = {"float32": "fp32", "bfloat16": "bf16", "float16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}
"""The arithmetic ceiling of a dtype."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Least bytes read and written, and operations, of one call."""

    reads: Number
    writes: Number
    flops: Number

    @property
    def bytes(self) -> Number:
        return self.reads + self.writes

    @property
    def read_share(self) -> float:
        """0.5 is a copy, 1 a pure read."""
        return self.reads / self.bytes if self.bytes else 0.5

    @property
    def yardstick(self) -> str:
        """The probe that moves most nearly what the kernel moves: `copy` or `read`."""
        return "read" if self.read_share > 0.75 else "copy"


@dataclass(frozen=True, slots=True)
class Limit:
    """The ceiling that binds: `memory 1:1`, or `bf16` when arithmetic takes longer."""

    name: str
    rate: float
    """Bytes or operations per second."""
    floor_us: float

    @property
    def is_memory(self) -> bool:
        return self.name.startswith("memory ")


def cost_of(kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar]) -> Cost:
    numbers = {name: value for name, value in params.items() if isinstance(value, int | float)}
    names: dict[str, Number] = {"itemsize": DTYPES[dtype].itemsize, **numbers, **workload.dims}
    return Cost(evaluate(kernel.reads, names), evaluate(kernel.writes, names), evaluate(kernel.flops, names))


def limit_of(cost: Cost, dtype: str, ceilings: Iterable[Ceiling]) -> Limit | None:
    """None when no memory ceiling was measured."""
    found = tuple(ceilings)
    memory = nearest_mix(cost.read_share, found)
    if memory is None:
        return None
    by_memory = Limit(memory.name, memory.rate, cost.bytes / memory.rate * 1e6)
    compute = next((c for c in found if c.name == COMPUTE.get(dtype)), None)
    if compute is None or cost.flops / compute.rate * 1e6 <= by_memory.floor_us:
        return by_memory
    return Limit(compute.name, compute.rate, cost.flops / compute.rate * 1e6)


def nearest_mix(read_share: float, ceilings: Iterable[Ceiling]) -> Ceiling | None:
    mixes = [ceiling for ceiling in ceilings if ceiling.name.startswith("memory ")]
    return min(mixes, key=lambda ceiling: abs(_read_share(ceiling.name) - read_share), default=None)


def _read_share(mix: str) -> float:
    """`memory 2:1` is 2/3."""
    reads, writes = mix.removeprefix("memory ").split(":")
    return int(reads) / (int(reads) + int(writes))
