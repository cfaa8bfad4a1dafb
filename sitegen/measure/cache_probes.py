"""How fast the L2 and shared memory are read: bytes per second by way of reading, and by size of the working set.

Every way is checked once against the sum of what it should have read: a probe that does not do its work is no ceiling.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import torch

from sitegen.measure.correctness import wait
from sitegen.measure.inputs import generator
from sitegen.measure.memory_probes import VECTOR_BYTES
from sitegen.measure.probe import can_launch, launcher, timed_calls

MB = 1 << 20
WORKING_SETS_MB = (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 256)
L2_SHAPES = ((4, 512, 4), (2, 1024, 2), (4, 1024, 2), (8, 512, 2), (8, 256, 4), (1, 1024, 2))
"""(16-byte loads in flight per thread, threads, blocks per SM)."""
L2_RINGS = ((32 * 1024, 6, 1), (16 * 1024, 4, 3))
"""(bytes of a chunk, chunks in shared memory, blocks per SM) of the bulk copy engine."""
SHARED_SHAPES = ((4, 512, 4), (4, 1024, 2), (8, 512, 2), (8, 1024, 1), (8, 256, 4))
L2_BYTES, SHARED_BYTES = 2 << 30, 128 << 20
"""That one call reads: from the L2 in all, from the shared memory of one SM."""
_TRIALS = 7

Rates = Iterator[tuple[str, float]]
Reader = Callable[[int, int], Callable[[], Any]]
"""(bytes of the working set, passes over it) → the call that reads so."""


def l2_rates() -> Rates:
    """Every way at a third of the L2 at most, then the best way over all working sets: the staircase."""
    if not can_launch():
        return
    words = _random_words(WORKING_SETS_MB[-1] * MB)
    third = torch.cuda.get_device_properties(0).L2_cache_size // 3
    tried_at = max((mb for mb in WORKING_SETS_MB if mb * MB <= third), default=WORKING_SETS_MB[0])
    readers = dict(_l2_readers(words))
    rates = {name: _l2_rate(reader, tried_at) for name, reader in readers.items()}
    yield from rates.items()
    best = readers[max(rates, key=lambda name: rates[name])]
    for mb in WORKING_SETS_MB:
        yield f"{mb} MB", _l2_rate(best, mb)


def shared_rates() -> Rates:
    """Blocks that fill every SM, each reading its own shared memory again and again."""
    if not can_launch():
        return
    for unroll, threads, blocks in SHARED_SHAPES:
        size, grid = unroll * threads * VECTOR_BYTES, blocks * _sms()
        passes = SHARED_BYTES // (blocks * size)
        launch = launcher("shared.cu", "shared_read", {"UNROLL": unroll, "THREADS": threads}, grid, threads, size)
        words, total = _random_words(size), _zero()
        call = partial(launch, words, total, ctypes.c_int32(passes))
        _expect_sum(call, total, words, passes * grid)
        rate = size * passes * grid / _seconds(call)
        yield f"16-byte x{unroll}, {threads} threads, {blocks} blocks per SM", rate


def _l2_readers(words: Any) -> Iterator[tuple[str, Reader]]:
    for unroll, threads, blocks in L2_SHAPES:
        yield f"16-byte x{unroll}, {threads} threads, {blocks} blocks per SM", _loads(words, unroll, threads, blocks)
    if torch.cuda.get_device_capability() >= (9, 0):
        for chunk, stages, blocks in L2_RINGS:
            yield f"bulk {chunk >> 10} KB x{stages}, {blocks} blocks per SM", _ring(words, chunk, stages, blocks)


def _loads(words: Any, unroll: int, threads: int, blocks: int) -> Reader:
    """Checked by what it reads in two passes over all of `words`."""
    tile, total = unroll * threads * VECTOR_BYTES, _zero()
    launch = launcher("l2.cu", "l2_read", {"UNROLL": unroll, "THREADS": threads}, blocks * _sms(), threads)

    def reader(size: int, passes: int) -> Callable[[], Any]:
        return partial(launch, words, total, ctypes.c_uint32(size // tile), ctypes.c_uint32(passes))

    _expect_sum(reader(words.nbytes, 2), total, words, 2)
    return reader


def _ring(words: Any, chunk: int, stages: int, blocks: int) -> Reader:
    """The engine itself counts the bytes that arrive; no register sees them."""
    sink = _zero()
    launch = launcher("bulk.cu", "bulk_1_0", {"CHUNK": chunk, "STAGES": stages}, blocks * _sms(), 1, chunk * stages)

    def reader(size: int, passes: int) -> Callable[[], Any]:
        vectors = ctypes.c_int64(size * passes // VECTOR_BYTES)
        return partial(launch, words, sink, vectors, ctypes.c_uint32(size // chunk))

    return reader


def _l2_rate(reader: Reader, mb: int) -> float:
    passes = max(2, L2_BYTES // (mb * MB))
    return mb * MB * passes / _seconds(reader(mb * MB, passes))


def _seconds(call: Callable[[], Any]) -> float:
    return median(timed_calls(call, _TRIALS)) * 1e-6


def _expect_sum(call: Callable[[], Any], total: Any, words: Any, times: int) -> None:
    """The sum of all words, so often, in 32 bits.  Raises RuntimeError."""
    total.zero_()
    call()
    wait()
    found, expected = int(total) % 2**32, int(words.sum(dtype=torch.int64)) * times % 2**32
    if found != expected:
        raise RuntimeError(f"the probe does not read what it should: sum {found:#x}, not {expected:#x}")


def _random_words(size: int) -> Any:
    """Equal words would travel faster."""
    source = generator("cuda", 11)
    return torch.randint(-(2**31), 2**31 - 1, (size // 4,), dtype=torch.int32, device="cuda", generator=source)


def _zero() -> Any:
    return torch.zeros(1, dtype=torch.int32, device="cuda")


def _sms() -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)
