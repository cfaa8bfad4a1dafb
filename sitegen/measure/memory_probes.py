"""The best way of this GPU to read, copy, mix or fill so many bytes: our kernels of probes/memory.cu and torch's.

Each candidate is a way of doing the same; `choose` takes the fastest at this size.  The rows `copy` and
`read` of a job are such probes with the bytes of its workload, timed in the same rounds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from statistics import median
from typing import Any

import torch

from sitegen.measure.correctness import wait
from sitegen.measure.geometry import names_of
from sitegen.measure.inputs import generator
from sitegen.measure.probe import can_launch, launcher, timed_calls
from sitegen.measure.timing import FIRST_SEED, Set
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate
from sitegen.model.kernel import Kernel, Scalar

VECTOR_BYTES = 16
MIXES = {"read_1_0": (1, 0), "mix_2_1": (2, 1), "copy_1_1": (1, 1), "write_0_1": (0, 1)}
"""Entry of probes/memory.cu → (arrays read, arrays written)."""
_UNROLLS, _THREADS, _STREAMING = (1, 2, 4, 8), (256, 512), (0, 1)
_BULK = {"read_1_0": "bulk_1_0", "copy_1_1": "bulk_1_1"}
_RINGS = ((32 << 10, 6, 1), (16 << 10, 12, 1), (16 << 10, 4, 3), (8 << 10, 8, 3))
"""(bytes of a chunk, chunks in shared memory, blocks per SM)."""
_TRIALS = 5

Run = Callable[[Sequence[Any], Sequence[Any]], Any]
_EXPECTED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "copy_1_1": lambda inputs: inputs[0],
    "mix_2_1": lambda inputs: torch.bitwise_xor(inputs[0], inputs[1]),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    run: Run


class MemoryProbe:
    """`into(inputs, outs)` moves `array_bytes` per array in the chosen way; inputs and outs are int32 tensors."""

    makes_output, takes_out = False, True

    def __init__(self, entry: str, array_bytes: int) -> None:
        self.entry = entry
        self.reads, self.writes = MIXES[entry]
        self.vectors = -(-array_bytes // VECTOR_BYTES)
        self.candidates = [*_ours(entry, self.vectors), *_bulk(entry, self.vectors), *_torchs(entry)]
        self.chosen = self.candidates[0]
        self.rates: dict[str, float] = {}
        """Bytes per second of each candidate, from a few calls."""

    @property
    def total_bytes(self) -> int:
        return (self.reads + self.writes) * self.vectors * VECTOR_BYTES

    def make_set(self, index: int) -> Set:
        """Random bits in what is read: equal ones run faster than real data."""
        source = generator("cuda", FIRST_SEED + index)
        count = self.vectors * VECTOR_BYTES // 4
        arrays = [
            torch.randint(-(2**31), 2**31 - 1, (count,), dtype=torch.int32, device="cuda", generator=source)
            for _ in range(self.reads)
        ]
        sizes = [count] * self.writes or [VECTOR_BYTES]
        return Set(arrays, [torch.empty(size, dtype=torch.int32, device="cuda") for size in sizes])

    def choose(self, sets: Sequence[Set]) -> None:
        """Times every candidate on rotating sets and keeps the fastest."""
        for candidate in self.candidates:
            self._expect_moved(candidate, sets[0])
            self.rates[candidate.name] = self.rate(candidate, sets, _TRIALS)
        self.chosen = max(self.candidates, key=lambda candidate: self.rates[candidate.name])

    def rate(self, candidate: Candidate, sets: Sequence[Set], samples: int) -> float:
        """Bytes per second, the median of so many calls."""
        coming = cycle(sets)

        def call() -> None:
            ready = next(coming)
            candidate.run(ready.inputs, ready.outs)

        return self.total_bytes / (median(timed_calls(call, samples)) * 1e-6)

    def _expect_moved(self, candidate: Candidate, ready: Set) -> None:
        """A probe that does not do its work is no ceiling.  Raises RuntimeError."""
        if self.entry not in _EXPECTED:
            return
        ready.outs[0].fill_(0)
        candidate.run(ready.inputs, ready.outs)
        wait()
        if not torch.equal(ready.outs[0], _EXPECTED[self.entry](ready.inputs)):
            raise RuntimeError(f"the probe {self.entry}, {candidate.name}, does not compute what it should")

    def fresh(self, inputs: Sequence[Any], dims: Mapping[str, int]) -> tuple[Any, ...]:
        raise TypeError("a probe has no output of its own")

    def into(self, inputs: Sequence[Any], outs: Sequence[Any], dims: Mapping[str, int]) -> None:
        self.chosen.run(inputs, outs)


def probe_subject(
    name: str, kernel: Kernel, dtype: str, params: Mapping[str, Scalar], dims: Mapping[str, int]
) -> MemoryProbe:
    """`copy`: reads + writes of the workload, half each way; `read`: its reads."""
    names = names_of(dims, params, DTYPES[dtype].itemsize)
    reads, writes = int(evaluate(kernel.reads, names)), int(evaluate(kernel.writes, names))
    return MemoryProbe("copy_1_1", (reads + writes) // 2) if name == "copy" else MemoryProbe("read_1_0", reads)


def _ours(entry: str, vectors: int) -> list[Candidate]:
    """Every combination of unroll, block size, cache hint and kind of grid; none where cuda.core is missing."""
    if not can_launch():
        return []
    return [
        _candidate(entry, vectors, unroll, threads, streaming, strided)
        for unroll, threads, streaming, strided in product(_UNROLLS, _THREADS, _STREAMING, (False, True))
    ]


def _candidate(entry: str, vectors: int, unroll: int, threads: int, streaming: int, strided: bool) -> Candidate:
    tiles = -(-vectors // (threads * unroll))
    resident = torch.cuda.get_device_properties(0).multi_processor_count * (2048 // threads)
    defines = {"UNROLL": unroll, "THREADS": threads, "STREAMING": streaming}
    launch = launcher("memory.cu", entry, defines, min(tiles, resident) if strided else tiles, threads)
    hints = f"{' streaming' if streaming else ''}{' strided' if strided else ''}"
    count = ctypes.c_int64(vectors)
    return Candidate(f"16-byte x{unroll}, {threads} threads{hints}", lambda ins, outs: launch(*ins, *outs, count))


def _bulk(entry: str, vectors: int) -> list[Candidate]:
    """Hopper's bulk copy engine, for the mixes that it can do without registers."""
    if entry not in _BULK or not can_launch() or torch.cuda.get_device_capability() < (9, 0):
        return []
    return [_ring(_BULK[entry], vectors, *shape) for shape in _RINGS]


def _ring(entry: str, vectors: int, chunk: int, stages: int, blocks: int) -> Candidate:
    grid = torch.cuda.get_device_properties(0).multi_processor_count * blocks
    launch = launcher("bulk.cu", entry, {"CHUNK": chunk, "STAGES": stages}, grid, 1, chunk * stages)
    count = ctypes.c_int64(vectors)
    name = f"bulk {chunk >> 10} KB x{stages}, {blocks} blocks per SM"
    return Candidate(name, lambda ins, outs: launch(*ins, *outs, count))


def _torchs(entry: str) -> list[Candidate]:
    """The library's kernels for the same traffic."""
    runs: dict[str, Run] = {
        "read_1_0": lambda inputs, outs: torch.sum(inputs[0].view(torch.float32)),
        "mix_2_1": lambda inputs, outs: torch.bitwise_xor(inputs[0], inputs[1], out=outs[0]),
        "copy_1_1": lambda inputs, outs: outs[0].copy_(inputs[0]),
        "write_0_1": lambda inputs, outs: outs[0].fill_(0x3F9E3779),
    }
    return [Candidate("torch", runs[entry])]
