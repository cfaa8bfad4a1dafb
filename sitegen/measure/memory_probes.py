"""A mix of reads and writes and a number of bytes → a probe that moves them in the fastest way of this GPU.

The candidates are kernels of probes/memory.cu and probes/bulk.cu, and torch.  All of them move the same bytes; `choose`
takes the fastest at this size.  The probes `copy` and `read` of a job move the bytes of its workload, and are timed in
the same rounds as its implementations.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from statistics import median
from typing import Any

import torch

from sitegen.measure.compile import largest_shared
from sitegen.measure.geometry import names_of
from sitegen.measure.guarded_calls import wait
from sitegen.measure.inputs import generator
from sitegen.measure.probe import can_launch, launcher, timed_calls
from sitegen.measure.timing import FIRST_SEED, BufferSet
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate
from sitegen.model.kernel import Kernel, Scalar

VECTOR_BYTES = 16
MIXES = {"read_1_0": (1, 0), "mix_2_1": (2, 1), "copy_1_1": (1, 1), "write_0_1": (0, 1)}
"""(arrays read, arrays written) by the entry of probes/memory.cu."""
_UNROLLS, _THREADS, _STREAMING = (1, 2, 4, 8), (256, 512), (0, 1)
_BULK = {
    "read_1_0": ("bulk_1_0", 1),
    "mix_2_1": ("bulk_2_1", 512),
    "copy_1_1": ("bulk_1_1", 1),
    "write_0_1": ("bulk_0_1", 128),
}
"""(entry of probes/bulk.cu, threads of a block) by mix.  One thread starts the copies; others are needed only where
registers touch the data."""
_RINGS = ((32 << 10, 6, 1), (16 << 10, 12, 1), (16 << 10, 4, 3), (8 << 10, 8, 3))
"""(bytes of a stage, stages in shared memory, blocks per SM) of each bulk copy.  A stage has a chunk of each array that
is read."""
_TRIALS = 5

Run = Callable[[Sequence[Any], Sequence[Any]], Any]
_EXPECTED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "copy_1_1": lambda inputs: inputs[0],
    "mix_2_1": lambda inputs: torch.bitwise_xor(inputs[0], inputs[1]),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way of moving the bytes."""

    name: str
    run: Run


class MemoryProbe:
    """A runnable that moves `array_bytes` per array in the chosen way; its inputs and outputs are int32 tensors."""

    can_allocate, takes_out = False, True

    def __init__(self, entry: str, array_bytes: int) -> None:
        self.entry = entry
        self.reads, self.writes = MIXES[entry]
        self.vectors = -(-array_bytes // VECTOR_BYTES)
        self.candidates = [
            *_own_candidates(entry, self.vectors),
            *_bulk_candidates(entry, self.vectors),
            *_torch_candidates(entry),
        ]
        self.chosen = self.candidates[0]
        self.rates: dict[str, float] = {}
        """Bytes per second of each candidate, from a few calls."""

    @property
    def total_bytes(self) -> int:
        """Bytes that one call reads and writes."""
        return (self.reads + self.writes) * self.vectors * VECTOR_BYTES

    def make_set(self, index: int) -> BufferSet:
        """Return the set of that index; the bits that are read are random, because equal ones would be read faster."""
        source = generator("cuda", FIRST_SEED + index)
        count = self.vectors * VECTOR_BYTES // 4
        arrays = [
            torch.randint(-(2**31), 2**31 - 1, (count,), dtype=torch.int32, device="cuda", generator=source)
            for _ in range(self.reads)
        ]
        sizes = [count] * self.writes or [VECTOR_BYTES]
        return BufferSet(arrays, [torch.empty(size, dtype=torch.int32, device="cuda") for size in sizes])

    def choose(self, sets: Sequence[BufferSet]) -> None:
        """Time every candidate on rotating sets and choose the fastest.  Raises RuntimeError for one that moves
        nothing."""
        for candidate in self.candidates:
            self._expect_moved(candidate, sets[0])
            self.rates[candidate.name] = self.rate(candidate, sets, _TRIALS)
        self.chosen = max(self.candidates, key=lambda candidate: self.rates[candidate.name])

    def rate(self, candidate: Candidate, sets: Sequence[BufferSet], samples: int) -> float:
        """Return the bytes per second of a candidate, the median of so many calls."""
        rotation = cycle(sets)

        def call() -> None:
            buffers = next(rotation)
            candidate.run(buffers.inputs, buffers.outs)

        return self.total_bytes / (median(timed_calls(call, samples)) * 1e-6)

    def _expect_moved(self, candidate: Candidate, buffers: BufferSet) -> None:
        """Raise RuntimeError unless the candidate writes what it should: otherwise its rate is no ceiling."""
        if self.entry == "write_0_1":
            self._expect_written(candidate, buffers.outs[0])
        if self.entry not in _EXPECTED:
            return
        buffers.outs[0].fill_(0)
        candidate.run(buffers.inputs, buffers.outs)
        wait()
        if not torch.equal(buffers.outs[0], _EXPECTED[self.entry](buffers.inputs)):
            raise RuntimeError(f"the probe {self.entry}, {candidate.name}, writes a wrong result")

    def _expect_written(self, candidate: Candidate, out: Any) -> None:
        """Raise RuntimeError for an element that keeps both of two values with which the output was filled before."""
        kept = torch.ones_like(out, dtype=torch.bool)
        for value in (0x5A5A5A5A, 0x3C3C3C3C):
            out.fill_(value)
            candidate.run([], [out])
            wait()
            kept &= out == value
        if bool(kept.any()):
            raise RuntimeError(f"the probe {self.entry}, {candidate.name}, leaves elements unwritten")

    def run_allocating(self, inputs: Sequence[Any], dims: Mapping[str, int]) -> tuple[Any, ...]:
        """Raise TypeError: a probe needs its outputs."""
        raise TypeError("a probe needs `out`")

    def run_into(self, inputs: Sequence[Any], outs: Sequence[Any], dims: Mapping[str, int]) -> None:
        """Move the bytes in the chosen way."""
        self.chosen.run(inputs, outs)


def probe_runnable(
    name: str, kernel: Kernel, dtype: str, params: Mapping[str, Scalar], dims: Mapping[str, int]
) -> MemoryProbe:
    """Return the probe `copy`, which moves reads + writes of the workload, half each way, or `read`, which reads its
    reads."""
    names = names_of(dims, params, DTYPES[dtype].itemsize)
    reads, writes = int(evaluate(kernel.reads, names)), int(evaluate(kernel.writes, names))
    return MemoryProbe("copy_1_1", (reads + writes) // 2) if name == "copy" else MemoryProbe("read_1_0", reads)


def _own_candidates(entry: str, vectors: int) -> list[Candidate]:
    """Return every combination of unroll, block size, cache hint and grid of probes/memory.cu; none without
    cuda.core."""
    if not can_launch():
        return []
    return [
        _candidate(entry, vectors, unroll=unroll, threads=threads, streaming=streaming, strided=strided)
        for unroll, threads, streaming, strided in product(_UNROLLS, _THREADS, _STREAMING, (False, True))
    ]


def _candidate(entry: str, vectors: int, *, unroll: int, threads: int, streaming: int, strided: bool) -> Candidate:
    """Return one variant; `strided` launches only the blocks that are resident at a time, which loop over the array."""
    tiles = -(-vectors // (threads * unroll))
    resident = torch.cuda.get_device_properties(0).multi_processor_count * (2048 // threads)
    defines = {"UNROLL": unroll, "THREADS": threads, "STREAMING": streaming}
    launch = launcher("memory.cu", entry, defines, grid=min(tiles, resident) if strided else tiles, block=threads)
    hints = f"{' streaming' if streaming else ''}{' strided' if strided else ''}"
    count = ctypes.c_int64(vectors)
    return Candidate(f"16-byte x{unroll}, {threads} threads{hints}", lambda ins, outs: launch(*ins, *outs, count))


def _bulk_candidates(entry: str, vectors: int) -> list[Candidate]:
    """Return the variants of Hopper's bulk copy engine whose stages a block can hold; none on older GPUs."""
    if not can_launch() or torch.cuda.get_device_capability() < (9, 0):
        return []
    rings = [(size, stages, blocks) for size, stages, blocks in _RINGS if size * stages <= largest_shared()]
    return [_bulk_candidate(entry, vectors, *ring) for ring in rings]


def _bulk_candidate(mix: str, vectors: int, stage_bytes: int, stages: int, blocks: int) -> Candidate:
    entry, threads = _BULK[mix]
    grid = torch.cuda.get_device_properties(0).multi_processor_count * blocks
    defines = {"CHUNK": stage_bytes // max(1, MIXES[mix][0]), "STAGES": stages}
    launch = launcher("bulk.cu", entry, defines, grid=grid, block=threads, shared=stage_bytes * stages)
    count = ctypes.c_int64(vectors)
    name = f"bulk {stage_bytes >> 10} KB x{stages}, {blocks} blocks per SM"
    return Candidate(name, lambda ins, outs: launch(*ins, *outs, count))


def _torch_candidates(entry: str) -> list[Candidate]:
    """Return torch's kernels for the same bytes."""
    runs: dict[str, Run] = {
        "read_1_0": lambda inputs, outs: torch.sum(inputs[0].view(torch.float32)),
        "mix_2_1": lambda inputs, outs: torch.bitwise_xor(inputs[0], inputs[1], out=outs[0]),
        "copy_1_1": lambda inputs, outs: outs[0].copy_(inputs[0]),
        "write_0_1": lambda inputs, outs: outs[0].fill_(0x3F9E3779),
    }
    return [Candidate("torch", runs[entry])]
