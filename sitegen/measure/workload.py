"""A job's workload → its least bytes and operations, what kind of kernel that makes it, and what fits into memory."""

from __future__ import annotations

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.job import KernelJob

MATRIX_INTENSITY = 64.0
"""FLOP per byte from which on a kernel is bound by arithmetic, and so by power, on every GPU of today."""
L2_ROTATION, MOST_SETS = 3, 4096
CHECK_COPIES, MOST_CHECKS = 4, 4
"""A check holds about so many float64 copies of all its tensors; so many run side by side at the workload."""


def bytes_of(job: KernelJob) -> tuple[int, int]:
    """Least bytes (read, written) of one call."""
    names = _names(job)
    return int(evaluate(job.kernel.reads, names)), int(evaluate(job.kernel.writes, names))


def is_matrix(job: KernelJob) -> bool:
    """Whether the formula gives so many operations for a byte that the power cap sets the clock."""
    return evaluate(job.kernel.flops, _names(job)) >= MATRIX_INTENSITY * max(1, sum(bytes_of(job)))


def checks_at_once(job: KernelJob, share: float, memory_bytes: int) -> int:
    """How many may be checked at the workload side by side; matrix kernels would only wait for each other."""
    each = CHECK_COPIES * 8 * sum(bytes_of(job)) // DTYPES[job.dtype].itemsize
    return fitting(share, memory_bytes, each, most=1 if is_matrix(job) else MOST_CHECKS)


def _names(job: KernelJob) -> dict[str, Number]:
    numbers = {name: value for name, value in job.params.items() if isinstance(value, int | float)}
    return {"itemsize": DTYPES[job.dtype].itemsize, **numbers, **job.workload.dims}


def set_count(set_bytes: int, l2_bytes: int, room: float) -> int:
    """How many sets keep 3 × L2 of other bytes between two uses of one.  At least two, unless two do not fit into
    `room` bytes and one is so large that its own bytes lie between two uses of any of them.
    """
    if 2 * set_bytes > room and set_bytes >= (L2_ROTATION + 1) * l2_bytes:
        return 1
    return max(2, min(MOST_SETS, -(-L2_ROTATION * l2_bytes // max(1, set_bytes)) + 1))


def fitting(share: float, memory_bytes: int, each_bytes: int, most: int) -> int:
    """How many of `each_bytes` fit into that share of the memory: at least one, at most `most`."""
    return max(1, min(most, int(share * memory_bytes / max(1, each_bytes))))
