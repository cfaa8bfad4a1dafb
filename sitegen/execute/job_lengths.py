"""A job and the records of a site → the seconds that the job is likely to take on a GPU.

A record keeps the seconds of each of its jobs.  A job without a record is estimated by its number of implementations,
points and cells.  The order of a run needs no more than that: an error changes which job waits, and no figure.
"""

from __future__ import annotations

from sitegen.model.cost import cost_of
from sitegen.model.formula import FormulaError
from sitegen.model.job import CeilingsJob, InspectJob, Job, KernelJob, NotebookJob, RejectJob, SweepJob
from sitegen.model.sweep_points import count_points
from sitegen.results.records import Records, param_combinations

CEILINGS_S = 41.0
"""Seconds in which a GPU measures its ceilings, before its first job."""
START_S = 8.0
"""Seconds of a job in which nothing is timed: processes, first calls and checks (tests/gpu/README.md)."""
EACH_S, EACH_MATRIX_S = 1.0, 6.0
"""Seconds that each implementation, baseline and probe adds; of a matrix kernel, which is timed in bursts and under
sustained load."""
VARIANT_S, POINT_S, CALL_S, CELL_S = 1.5, 2.5, 0.5, 5.0
"""Seconds of each variant that must be rejected, point of a sweep, call under a tool, and cell of a post."""
PROBES = 2


def expected_seconds(job: Job, records: Records, gpu: str) -> float:
    """Return the seconds that a job took on this model of GPU, else on another one, else an estimate."""
    known = _recorded_seconds(job, records)
    return known.get(gpu) or next(iter(known.values()), 0.0) or estimated_seconds(job)


def _recorded_seconds(job: Job, records: Records) -> dict[str, float]:
    """Return the recorded seconds of a job by the GPU's id."""
    if isinstance(job, CeilingsJob):
        return {}
    if isinstance(job, NotebookJob):
        found: dict[str, float] = {}
        for (slug, _, gpu), cell in records.cells.items():
            if slug == job.post:
                found[gpu] = found.get(gpu, START_S) + cell.duration_s
        return found
    by_gpu = records.of_kernel(job.kernel.name)
    return {gpu: record.seconds[job.id] for gpu, record in by_gpu.items() if job.id in record.seconds}


def estimated_seconds(job: Job) -> float:
    """Return an estimate of the seconds of a job that was never run."""
    match job:
        case CeilingsJob():
            return CEILINGS_S
        case KernelJob():
            ours = sum(not one.dtypes or job.dtype in one.dtypes for one in job.kernel.implementations)
            several = ours + len(job.kernel.baselines) + PROBES
            return START_S + several * (EACH_MATRIX_S if _is_matrix(job) else EACH_S)
        case RejectJob():
            return START_S + VARIANT_S * len(job.kernel.wrong)
        case SweepJob():
            return START_S + POINT_S * count_points(job.sweep)
        case InspectJob():
            return START_S + CALL_S * _tool_calls(job)
        case NotebookJob():
            return START_S + CELL_S * len(job.cells)


def _is_matrix(job: KernelJob) -> bool:
    try:
        return cost_of(job.kernel, job.workload, job.dtype, job.params).is_matrix
    except FormulaError:  # which `check` reports
        return False


def _tool_calls(job: InspectJob) -> int:
    """Return the calls under compute-sanitizer, one for each dtype, and under ncu, one for each evaluation."""
    kernel = job.kernel
    counted = len(kernel.workloads) * len(param_combinations(kernel)) if job.sweep else 0
    return len(kernel.implementations) * len(kernel.dtypes) * (1 + counted)
