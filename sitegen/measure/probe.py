"""A kernel of probes/ → a call that launches it, and calls → microseconds."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch

from sitegen.measure import compile as compiling
from sitegen.measure.clock import PROBES
from sitegen.measure.correctness import wait


def can_launch() -> bool:
    """Whether cuda.core is here; without it the only probes are the library's."""
    return importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("cuda.core") is not None


def launcher(
    file: str, entry: str, defines: Mapping[str, object], grid: int, block: int, shared: int = 0
) -> Callable[..., None]:
    """Compiled for the GPU at hand.  The call takes tensors and ctypes numbers; `shared` is bytes per block."""
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
    """All entries of the file, for each way only once."""
    return compiling.compile_probe(PROBES / file, defines)


def timed_calls(call: Callable[[], Any], samples: int) -> list[float]:
    """Microseconds of each of `samples` calls, after two unmeasured ones, behind a spin that hides the launches."""
    for _ in range(2):
        call()
    wait()
    torch.cuda._sleep(2_000_000)
    return timed_at_once(call, samples)


def timed_at_once(call: Callable[[], Any], samples: int) -> list[float]:
    """The same without anything before them: of a GPU that has rested, or of one that is at work."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(samples)]
    for start, end in events:
        start.record()
        call()
        end.record()
    wait()
    return [start.elapsed_time(end) * 1000.0 for start, end in events]
