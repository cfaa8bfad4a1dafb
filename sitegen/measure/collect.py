"""One call of a runnable → what a reader sees beside its time: launch record, compilation, PTX and SASS.

Nothing here may fail an evaluation: what cannot be collected is left out, and `missing` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from sitegen.measure.artefacts import Binary, disassemble, pack_all
from sitegen.measure.compile import arch_of
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.guarded_calls import call_and_wait
from sitegen.measure.launches import CapturedCall, TritonWatch, capture
from sitegen.measure.requests import CollectedArtefacts
from sitegen.measure.runnable import CudaRunnable, HostRunnable, PythonRunnable, Runnable
from sitegen.measure.timing import make_set
from sitegen.model.record import LaunchRecord


def collect(
    setup: KernelSetup, runnable: Runnable, watch: TritonWatch | None, dims: Mapping[str, int]
) -> CollectedArtefacts:
    """Return what one call at these dims launches.  Raises nothing."""
    launch: LaunchRecord | None = None
    try:
        buffers = make_set(setup, runnable, dims, 0)
        call = partial(runnable.run_into, buffers.inputs, buffers.outs, dims)
        launched = triton_binaries(watch, runnable, call)
        captured = capture(call)
        launch = captured.launch if captured else None
        binaries = binaries_of(runnable, launched, captured, dims)
        listing = disassemble(binaries, arch_of(torch.cuda.get_device_capability()))
    except Exception as error:
        return CollectedArtefacts(launch=launch, missing=f"{type(error).__name__}: {error}")
    if listing is None:
        return CollectedArtefacts(launch=launch)
    return CollectedArtefacts(launch, listing.compilation, pack_all(listing.artefacts))


def triton_binaries(watch: TritonWatch | None, runnable: Runnable, call: Callable[[], Any]) -> list[Binary]:
    """Call once, so that nothing is left to compile or load; return the Triton kernels of an implementation."""
    if watch is None or type(runnable) is not PythonRunnable:
        call_and_wait(call)
        return []
    watch.start()
    call_and_wait(call)
    watch.stop()
    return watch.binaries()


def binaries_of(
    runnable: Runnable, launched: list[Binary], captured: CapturedCall | None, dims: Mapping[str, int]
) -> list[Binary]:
    """Return the machine code that one call runs; none for a baseline, whose code is not ours.

    `launched` are the Triton kernels of the call.
    """
    if isinstance(runnable, CudaRunnable):
        launch = runnable.launch_at(dims)
        return [launch.code.binary(launch.geometry.shared_bytes)]
    if isinstance(runnable, HostRunnable):
        data, shared = runnable.shared_object.read_bytes(), captured.launch.shared_bytes if captured else 0
        return [Binary(data, captured.kernels if captured else (), flags=runnable.flags, dynamic_shared=shared)]
    return launched
