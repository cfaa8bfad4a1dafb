"""Workloads on GPUs of made-up sizes: what is in memory at the same time fits, or the job says that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.execute.plan import Inventory, plan
from sitegen.measure.memory_plan import (
    CONTEXT_BYTES,
    GIB,
    RESIDENT_SHARE,
    MemoryPlan,
    check_bytes,
    plan_memory,
    set_room_in_one_process,
)
from sitegen.measure.rounds import GENERATIONS
from sitegen.measure.workload import is_matrix_kernel, least_bytes, set_count
from sitegen.model.job import KernelJob
from sitegen.read.load import load_site

SIZES = (16, 24, 40, 48, 80, 141)
L2_BYTES = 50 << 20


@pytest.fixture(scope="module")
def jobs() -> list[KernelJob]:
    """A job for every workload, dtype and params of this repository."""
    site, _ = load_site(Path(__file__).parents[2])
    return [job for job in plan(Inventory(site), "", everything=True) if isinstance(job, KernelJob)]


def processes(job: KernelJob) -> int:
    """Processes of one generation."""
    offered = [i for i in job.kernel.implementations if job.dtype in (i.dtypes or job.kernel.dtypes)]
    return len(offered) + len(job.kernel.baselines) + (0 if is_matrix_kernel(job) else 2)


def sets_of(job: KernelJob, memory: MemoryPlan) -> int:
    return set_count(sum(least_bytes(job)), L2_BYTES, memory.set_room)


def most_bytes(job: KernelJob, memory: MemoryPlan) -> dict[str, int]:
    """The bytes that each step of the job holds at its most."""
    one, count = sum(least_bytes(job)), processes(job)
    contexts, check = memory.generations * count * CONTEXT_BYTES, check_bytes(job)
    sets = sets_of(job, memory) * one
    resident = count * sets if sets <= memory.set_room else 0
    return {
        "first calls and checks": contexts + memory.free,
        "a check": contexts + check,
        "turns": contexts + (resident or sets),
        "rechecks": contexts + resident + memory.rechecks * check,
    }


@pytest.mark.parametrize("gib", SIZES)
def test_every_step_of_every_job_fits_into_the_memory_or_the_job_does_not(jobs: list[KernelJob], gib: int) -> None:
    planned = {job.id: (job, plan_memory(job, processes(job), gib * GIB)) for job in jobs}
    over = {
        (name, step)
        for name, (job, memory) in planned.items()
        if memory.fits
        for step, most in most_bytes(job, memory).items()
        if most > gib * GIB
    }
    assert not over
    assert any(memory.fits for _, memory in planned.values())


def test_a_larger_gpu_takes_every_job_that_a_smaller_one_takes(jobs: list[KernelJob]) -> None:
    for job in jobs:
        fits = [plan_memory(job, processes(job), gib * GIB).fits for gib in SIZES]
        assert fits == sorted(fits)
        assert fits[-1]


def test_a_job_needs_what_its_largest_step_holds(jobs: list[KernelJob]) -> None:
    for job in jobs:
        needed = plan_memory(job, processes(job), 16 * GIB).needed
        enough, too_little = (plan_memory(job, processes(job), needed + more) for more in (0, -GIB))
        assert (enough.fits, too_little.fits) == (True, False)
        assert max(most_bytes(job, enough).values()) <= needed


def test_a_gpu_of_80_gb_times_all_of_this_repository(jobs: list[KernelJob]) -> None:
    """An H100 has 79.2 GiB; three of five copies ended out of memory there while contexts and late calls were not
    counted."""
    assert all(plan_memory(job, processes(job), int(79.2 * GIB)).fits for job in jobs)


def test_a_job_that_fits_with_fewer_sets_uses_fewer(jobs: list[KernelJob]) -> None:
    job = next(job for job in jobs if job.id == "softmax@2048x65536:float32")
    counts = [sets_of(job, plan_memory(job, processes(job), gib * GIB)) for gib in (40, 141)]
    assert counts == [1, 2]


def test_a_small_gpu_has_fewer_contexts_at_a_time(jobs: list[KernelJob]) -> None:
    job = next(job for job in jobs if job.id == "softmax@8192x8192:float32")
    generations = [plan_memory(job, processes(job), gib * GIB).generations for gib in SIZES]
    assert generations == sorted(generations)
    assert (generations[0], generations[-1]) == (1, GENERATIONS)


def test_sets_leave_room_for_a_check_and_take_no_more_than_their_share(jobs: list[KernelJob]) -> None:
    for job in jobs:
        memory = plan_memory(job, processes(job), 141 * GIB)
        assert processes(job) * memory.set_room <= RESIDENT_SHARE * 141 * GIB


def test_the_shortage_is_told_in_gib(jobs: list[KernelJob]) -> None:
    job = next(job for job in jobs if job.id == "copy@1Gi:float32")
    needed = plan_memory(job, processes(job), GIB).needed
    assert plan_memory(job, processes(job), 24 * GIB).shortage == f"needs {needed / GIB:.0f} GiB, the GPU has 24"


@pytest.mark.parametrize("gib", SIZES)
def test_sets_of_one_process_leave_room_for_its_context_and_a_check(jobs: list[KernelJob], gib: int) -> None:
    for job in jobs:
        room = set_room_in_one_process(job, 3, gib * GIB)
        assert 3 * room <= RESIDENT_SHARE * gib * GIB
        assert room == 0 or 3 * room + check_bytes(job) + CONTEXT_BYTES <= gib * GIB
