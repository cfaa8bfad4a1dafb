"""Time a kernel that does nothing, in both ways in which calls are timed: `EmptyKernel`.

The time of a short call contains about this much that is not its own work, so the page prints it beside short calls.
"""

from __future__ import annotations

from sitegen.measure.clock import NoPowerMeter
from sitegen.measure.probe import can_launch, launcher
from sitegen.measure.rounds import EmptyKernel
from sitegen.measure.timing import BufferSet, CallTimer


def time_empty_kernel() -> EmptyKernel | None:
    """Return the time in a CUDA graph and by events; None where kernels of probes/ cannot be launched."""
    if not can_launch():
        return None
    launch = launcher("empty.cu", "empty", {}, grid=1, block=32)
    timer = CallTimer(lambda _: launch(), lambda _: BufferSet([], []), 2, True, None, NoPowerMeter())
    events_us = timer.prepare()
    return EmptyKernel(timer.estimate_us, events_us) if timer.use_graph() else None
