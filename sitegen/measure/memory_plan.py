"""A job and the bytes of its GPU → how much of the job may be in memory at once, or that it does not fit.

Everything that holds memory at the same time is added up: the CUDA contexts of all living processes, the sets of
buffers, and the float64 references of checks.  Nothing here touches the GPU, so a job that does not fit is known before
anything is started.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.measure.rounds import GENERATIONS
from sitegen.measure.workload import is_matrix_kernel, least_bytes
from sitegen.model.dtypes import DTYPES
from sitegen.model.job import KernelJob

GIB = 1 << 30
CONTEXT_BYTES, CONTEXT_SHARE = 700 << 20, 0.36
"""Bytes of one CUDA context with torch on an H200; the largest share of the memory that contexts take for the sake of
generations that only wait.  0.36 lets all three generations of 13 processes wait on a GPU of 80 GB: a generation that
is started between two others takes 4 s, in which nothing is timed."""
SPARE_SHARE = 0.03
"""Share of the memory that the driver holds, or that is lost between blocks of torch's allocator."""
CALL_COPIES, CHECK_COPIES, MOST_CHECKS = 2, 4, 4
"""Copies of all its tensors that a first call holds, in float32 at least: its own, and what the baseline computes;
float64 copies of them that a check holds; the most checks side by side at the workload.  A check of a scan holds 4.75
copies, so a check or call that runs out of memory beside others is repeated alone (`Room.do`)."""
RESIDENT_SHARE = 0.5
"""Share of the memory that the sets of all processes may take together."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """How the parts of a job divide the memory of the GPU; all sizes are bytes."""

    memory: int
    needed: int
    """Least memory with which the job can be done: the contexts of one generation, and one check at the workload."""
    generations: int
    """Generations of processes that may live at the same time."""
    free: int
    """Memory beside the contexts of so many generations."""
    call: int
    """Memory of a first call at the workload."""
    check: int
    """Memory of a check at the workload."""
    checks: int
    """The most checks side by side."""
    set_room: int
    """Memory of the sets of each process when those of all processes stay in memory."""
    rechecks: int
    """Last outputs that may be checked side by side while all sets are in memory."""

    @property
    def fits(self) -> bool:
        return self.needed <= self.memory

    @property
    def shortage(self) -> str:
        """The reason why the job does not fit, for the message of its evaluations."""
        return f"needs {_gib(self.needed)} GiB, the GPU has {_gib(self.memory)}"


def plan_memory(job: KernelJob, processes: int, memory: int) -> MemoryPlan:
    """Return the plan of a job whose generations have so many processes each, on a GPU with so many bytes."""
    check, call = check_bytes(job), call_bytes(job)
    usable = int((1 - SPARE_SHARE) * memory)
    generations = _generations(processes, memory)
    while generations > 1 and usable - _contexts(generations, processes) < check:
        generations -= 1
    free = max(0, usable - _contexts(generations, processes))
    checks = _count(free, check, 1 if is_matrix_kernel(job) else MOST_CHECKS)
    set_room = _set_room(memory, free - check, processes)
    return MemoryPlan(
        memory=memory,
        needed=int((_contexts(1, processes) + max(check, call)) / (1 - SPARE_SHARE)),
        generations=generations,
        free=free,
        call=call,
        check=check,
        checks=checks,
        set_room=set_room,
        rechecks=_count(free - processes * set_room, check, checks),
    )


def set_room_in_one_process(job: KernelJob, holders: int, memory: int) -> int:
    """Return the bytes for the sets of each of so many holders in one process, when those of all stay in memory."""
    free = int((1 - SPARE_SHARE) * memory) - CONTEXT_BYTES
    return _set_room(memory, free - check_bytes(job), holders)


def _set_room(memory: int, free: int, holders: int) -> int:
    """Return the bytes for the sets of each holder; `free` is what contexts and one check leave."""
    return max(0, min(int(RESIDENT_SHARE * memory), free)) // max(1, holders)


def call_bytes(job: KernelJob) -> int:
    """Return the bytes that a first call at the workload holds at its most."""
    itemsize = DTYPES[job.dtype].itemsize
    return CALL_COPIES * max(itemsize, 4) * sum(least_bytes(job)) // itemsize


def check_bytes(job: KernelJob) -> int:
    """Return the bytes that a check at the workload holds at its most."""
    return CHECK_COPIES * 8 * sum(least_bytes(job)) // DTYPES[job.dtype].itemsize


def _generations(processes: int, memory_bytes: int) -> int:
    return max(1, min(GENERATIONS, int(CONTEXT_SHARE * memory_bytes // _contexts(1, max(1, processes)))))


def _contexts(generations: int, processes: int) -> int:
    return generations * processes * CONTEXT_BYTES


def _count(room: int, each: int, most: int) -> int:
    """Return how many fit: at least one, at most `most`."""
    return max(1, min(most, room // max(1, each)))


def _gib(count: int) -> str:
    """Return GiB as text: whole ones from 10 on."""
    return f"{count / GIB:.0f}" if count >= 10 * GIB else f"{count / GIB:.1f}"
