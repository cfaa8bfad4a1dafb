"""One call of a runnable → what a reader sees beside its time: launch record, compilation, PTX and SASS.

Nothing here may fail an evaluation: what cannot be collected is left out, and `missing` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from sitegen.measure.artefacts import Binary, Disassembly, disassemble, pack_all
from sitegen.measure.compile import arch_of
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.guarded_calls import call_and_wait
from sitegen.measure.kernel_times import kernel_times
from sitegen.measure.launches import CapturedCall, TritonWatch, capture
from sitegen.measure.longest_kernel import compilation_of, launch_record, longest_kernel
from sitegen.measure.occupancy import limits_of
from sitegen.measure.requests import CollectedArtefacts
from sitegen.measure.runnable import CudaRunnable, HostRunnable, PythonRunnable, Runnable
from sitegen.measure.timing import make_set


def collect(
    setup: KernelSetup, runnable: Runnable, watch: TritonWatch | None, dims: Mapping[str, int], *, last: bool
) -> Callable[[], CollectedArtefacts]:
    """Make one call at these dims, and return the function that lists what it launched.  Neither raises anything.

    The function needs no GPU, and may run in another thread.  With `last` the process times nothing afterwards, so that
    the profiler may tell which of several kernels takes longest.
    """
    captured: CapturedCall | None = None
    times_us: tuple[float, ...] = ()
    arch = ""
    try:
        arch = arch_of(torch.cuda.get_device_capability())
        buffers = make_set(setup, runnable, dims, 0)
        call = partial(runnable.run_into, buffers.inputs, buffers.outs, dims)
        launched = triton_binaries(watch, runnable, call)
        captured = capture(call)
        times_us = kernel_times(call, captured.kernels) if captured and last else ()
        binaries = binaries_of(runnable, launched, captured, dims)
    except Exception as error:
        return partial(described, captured, times_us, None, arch, _in_words(error))
    return partial(_listed, captured, times_us, binaries, arch)


def _listed(
    captured: CapturedCall | None, times_us: Sequence[float], binaries: Sequence[Binary], arch: str
) -> CollectedArtefacts:
    try:
        return described(captured, times_us, disassemble(binaries, arch), arch)
    except Exception as error:
        return described(captured, times_us, None, arch, _in_words(error))


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def described(
    captured: CapturedCall | None, times_us: Sequence[float], listing: Disassembly | None, arch: str, missing: str = ""
) -> CollectedArtefacts:
    """Return the launches and the compiled code of a call, with the resources of its longest kernel."""
    artefacts = pack_all(listing.artefacts) if listing else {}
    if captured is None:
        return CollectedArtefacts(None, listing.compilation if listing else None, artefacts, missing)
    longest = longest_kernel(captured.kernels, times_us, listing.lengths if listing else {})
    launch = launch_record(longest, captured.launches, limits_of(arch), listing)
    return CollectedArtefacts(launch, compilation_of(longest, listing) if listing else None, artefacts, missing)


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
        names = captured.names if captured else ()
        return [Binary(runnable.shared_object.read_bytes(), names, flags=runnable.flags)]
    return launched
