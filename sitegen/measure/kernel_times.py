"""One call → the device time of each kernel that it launches, as torch's profiler sees them.

Only the order of the times matters, so three calls with a warm cache are enough.  The profiler may stay attached to the
process and slow down later launches: a process that still has something to time must not use it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from sitegen.measure.guarded_calls import wait
from sitegen.measure.longest_kernel import LaunchedKernel

CALLS = 3


def kernel_times(call: Callable[[], Any], launches: Sequence[LaunchedKernel]) -> tuple[float, ...]:
    """Return the shortest time of each launch of a call in µs, in order; empty when they cannot be told apart.

    Raises nothing.
    """
    if len(launches) < 2:
        return ()
    try:
        return times_in_trace(_trace(call), launches)
    except Exception:
        return ()


def times_in_trace(trace: Mapping[str, Any], launches: Sequence[LaunchedKernel]) -> tuple[float, ...]:
    """Return the shortest time of each launch in a trace of CALLS calls; empty when the trace has other kernels.

    Copies and fills by the copy engine are no kernels.
    """
    kernels = sorted((one for one in trace["traceEvents"] if one.get("cat") == "kernel"), key=lambda one: one["ts"])
    seen = [(tuple(one["args"]["grid"]), tuple(one["args"]["block"])) for one in kernels]
    if seen != [(one.geometry.grid, one.geometry.block) for one in launches] * CALLS:
        return ()
    return tuple(min(one["dur"] for one in kernels[at :: len(launches)]) for at in range(len(launches)))


def _trace(call: Callable[[], Any]) -> Mapping[str, Any]:
    """Return the trace of CALLS calls, in Chrome's format: for each kernel its begin, time, grid and block."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(CALLS):
            call()
        wait()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(file))
        trace: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return trace
