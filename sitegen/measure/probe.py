"""A kernel of probes/ → a call that launches it; a call → microseconds of device time."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch

from sitegen.measure import compile as compiling
from sitegen.measure.clock import PROBE_FOLDER, SmClock
from sitegen.measure.guarded_calls import wait


def can_launch() -> bool:
    """Return whether cuda.core is installed; without it only the library's kernels are probes."""
    return importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("cuda.core") is not None


def launcher(
    file: str, entry: str, defines: Mapping[str, object], *, grid: int, block: int, shared: int = 0
) -> Callable[..., None]:
    """Return a call that launches an entry of a file of probes/, compiled for the GPU at hand.

    The call takes tensors and ctypes numbers.  `grid` and `block` have one dimension; `shared` is bytes per block.
    Raises CompileError and RuntimeError, and EvaluationEnded where the GPU has too little shared memory.
    """
    from cuda.core import LaunchConfig, Stream, launch

    kernel = _compiled(file, tuple((name, str(value)) for name, value in defines.items())).get_kernel(entry)
    if shared:
        compiling.allow_shared(kernel, shared)
    config = LaunchConfig(grid=(grid,), block=(block,), shmem_size=shared)

    def call(*arguments: Any) -> None:
        given = [a.data_ptr() if isinstance(a, torch.Tensor) else a for a in arguments]
        launch(Stream.from_handle(torch.cuda.current_stream().cuda_stream), config, kernel, *given)

    return call


@cache
def _compiled(file: str, defines: compiling.Defines) -> Any:
    """Return the compiled file; each set of macros is compiled once."""
    return compiling.compile_probe(PROBE_FOLDER / file, defines)


def timed_calls(call: Callable[[], Any], samples: int) -> list[float]:
    """Return the microseconds of each of `samples` calls, after two calls that are not timed.

    The calls are queued behind a spin, so that the GPU never waits for the host.
    """
    for _ in range(2):
        call()
    wait()
    spin()
    return timed_at_once(call, samples)


def spin() -> None:
    """Queue a kernel that waits for about a millisecond, so that the calls behind it are queued before they run."""
    torch.cuda._sleep(2_000_000)


def timed_at_once(call: Callable[[], Any], samples: int, clock: SmClock | None = None) -> list[float]:
    """Return the microseconds of each of `samples` calls, queued now: behind idleness, or behind other calls.

    `clock` then holds the SM clock of these calls.
    """
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(samples)]
    if clock:
        clock.start()
    for start, end in events:
        start.record()
        call()
        end.record()
    if clock:
        clock.stop()
    wait()
    return [start.elapsed_time(end) * 1000.0 for start, end in events]
