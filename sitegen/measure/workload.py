"""The workload of a job → its least bytes, whether it is a matrix kernel, and its sets of buffers."""

from __future__ import annotations

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.job import KernelJob

MATRIX_INTENSITY = 64.0
"""FLOP per byte from which a kernel is limited by arithmetic, and so by power, on every GPU of today."""
L2_ROTATION, MOST_SETS = 3, 4096
"""Other bytes between two uses of a set, in multiples of the L2; the most sets."""


def least_bytes(job: KernelJob) -> tuple[int, int]:
    """Return the least bytes that one call reads and writes."""
    names = _names(job)
    return int(evaluate(job.kernel.reads, names)), int(evaluate(job.kernel.writes, names))


def is_matrix_kernel(job: KernelJob) -> bool:
    """Return whether the formulas give so many operations per byte that the power cap sets the clock."""
    return evaluate(job.kernel.flops, _names(job)) >= MATRIX_INTENSITY * max(1, sum(least_bytes(job)))


def set_count(set_bytes: int, l2_bytes: int, room: float) -> int:
    """Return how many sets keep 3 × L2 of other bytes between two uses of a set: at least two.

    It is one where two do not fit into `room` bytes and one is so large that its own bytes are enough between two uses
    of any of them.
    """
    if 2 * set_bytes > room and set_bytes >= (L2_ROTATION + 1) * l2_bytes:
        return 1
    return max(2, min(MOST_SETS, -(-L2_ROTATION * l2_bytes // max(1, set_bytes)) + 1))


def _names(job: KernelJob) -> dict[str, Number]:
    numbers = {name: value for name, value in job.params.items() if isinstance(value, int | float)}
    return {"itemsize": DTYPES[job.dtype].itemsize, **numbers, **job.workload.dims}
