"""The GPU at hand → bytes per second read from the L2 and from shared memory, by variant and by working set.

Every variant is checked once against the sum of what it should read: a probe that does not do its work is no ceiling.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch

from sitegen.measure.compile import largest_shared
from sitegen.measure.guarded_calls import wait
from sitegen.measure.inputs import generator
from sitegen.measure.memory_probes import VECTOR_BYTES
from sitegen.measure.probe import can_launch, launcher, timed_calls

MB = 1 << 20
WORKING_SETS_MB = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 256)
L2_SHAPES = ((1, 1024, 2), (2, 512, 4), (2, 1024, 2), (4, 256, 4), (4, 512, 2), (8, 256, 2))
"""(16-byte loads in flight per thread, threads, blocks per SM): at most 64 KB per SM, so that a working set of 12 MB is
more than all SMs of an H200 read at a time.  With a smaller working set several SMs request the same line at once and
get one answer, which is faster than the L2 can read."""
SHARED_SHAPES = ((4, 512, 4), (4, 1024, 2), (8, 512, 2), (8, 1024, 1), (8, 256, 4))
L2_BYTES, SHARED_BYTES = 2 << 30, 128 << 20
"""Bytes that one call reads: from the L2 in total, and from the shared memory of one SM."""
_TRIALS = 7

Rates = Iterator[tuple[str, float]]
"""Name of the variant, bytes per second."""


@dataclass(frozen=True, slots=True)
class L2Reader:
    """One variant that reads a working set repeatedly."""

    name: str
    least: int
    """Bytes that all blocks read at a time: the smallest working set of which no line is requested twice at once."""
    call: Callable[[int, int], Any]
    """Launch with the bytes of the working set and the number of passes over it."""

    def rate(self, mb: int) -> float:
        """Return bytes per second for a working set of so many MB."""
        passes = max(2, L2_BYTES // (mb * MB))
        return mb * MB * passes / _seconds(partial(self.call, mb * MB, passes))


def l2_rates() -> Rates:
    """Yield the rate of every variant at a third of the L2, then of the best variant at every working set."""
    if not can_launch():
        return
    words = _random_words(WORKING_SETS_MB[-1] * MB)
    third = torch.cuda.get_device_properties(0).L2_cache_size // 3
    tried_at = max((mb for mb in WORKING_SETS_MB if mb * MB <= third), default=WORKING_SETS_MB[0])
    readers = [_l2_reader(words, *shape) for shape in L2_SHAPES]
    rates = {reader: reader.rate(tried_at) for reader in readers}
    yield from ((reader.name, rate) for reader, rate in rates.items())
    best = max(readers, key=lambda reader: rates[reader])
    for mb in WORKING_SETS_MB:
        if mb * MB >= best.least:
            yield f"{mb} MB", best.rate(mb)


def shared_rates() -> Rates:
    """Yield the rates of blocks that fill every SM and each read their own shared memory repeatedly.

    A variant whose block takes more than the GPU has is left out.
    """
    if not can_launch():
        return
    for unroll, threads, blocks in SHARED_SHAPES:
        size, grid = unroll * threads * VECTOR_BYTES, blocks * _sms()
        if size > largest_shared():
            continue
        passes = SHARED_BYTES // (blocks * size)
        launch = launcher(
            "shared.cu",
            "shared_read",
            {"UNROLL": unroll, "THREADS": threads},
            grid=grid,
            block=threads,
            shared=size,
        )
        words, total = _random_words(size), _zero()
        call = partial(launch, words, total, ctypes.c_int32(passes))
        expect_sum(call, total, words, passes * grid)
        rate = size * passes * grid / _seconds(call)
        yield f"16-byte x{unroll}, {threads} threads, {blocks} blocks per SM", rate


def _l2_reader(words: Any, unroll: int, threads: int, blocks: int) -> L2Reader:
    """Return one variant.  Raises RuntimeError unless two passes over all of `words` give their sum."""
    tile, grid, total = unroll * threads * VECTOR_BYTES, blocks * _sms(), _zero()
    launch = launcher("l2.cu", "l2_read", {"UNROLL": unroll, "THREADS": threads}, grid=grid, block=threads)

    def call(size: int, passes: int) -> None:
        launch(words, total, ctypes.c_uint32(size // tile), ctypes.c_uint32(passes))

    expect_sum(partial(call, words.nbytes, 2), total, words, 2)
    return L2Reader(f"16-byte x{unroll}, {threads} threads, {blocks} blocks per SM", grid * tile, call)


def _seconds(call: Callable[[], Any]) -> float:
    return median(timed_calls(call, _TRIALS)) * 1e-6


def expect_sum(call: Callable[[], Any], total: Any, words: Any, times: int) -> None:
    """Call a probe that adds all words to `total` so many times.  Raises RuntimeError if the sum modulo 2³² differs."""
    total.zero_()
    call()
    wait()
    actual, expected = int(total) % 2**32, int(words.sum(dtype=torch.int64)) * times % 2**32
    if actual != expected:
        raise RuntimeError(f"the probe does not read all words: its sum is {actual:#x}, not {expected:#x}")


def _random_words(size: int) -> Any:
    """Return `size` bytes of random words, because equal words would be read faster."""
    source = generator("cuda", 11)
    return torch.randint(-(2**31), 2**31 - 1, (size // 4,), dtype=torch.int32, device="cuda", generator=source)


def _zero() -> Any:
    return torch.zeros(1, dtype=torch.int32, device="cuda")


def _sms() -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)
