"""A `SweepJob` → its `MeasuredSweep`.  This is the parent process, which never touches CUDA.

A point is a candidate as in `sitegen try`: one process (sweep_process.py) checks and times all of them, and a point
that ends the process costs only itself.  Points with the same dims are the candidates of one kernel job.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sitegen.measure.jobs import run_kernel_job
from sitegen.measure.sources import write_sources
from sitegen.measure.try_job import deadline_s, evaluate_in_processes, lines_of_process
from sitegen.measure.workspace import Workspace
from sitegen.model.job import JobResult, KernelJob, SweepJob
from sitegen.model.kernel import Implementation, Kernel, Status, Workload
from sitegen.model.plain import to_plain
from sitegen.model.record import Evaluation, MeasuredSweep, Role, SweepPoint
from sitegen.model.sweep_points import implementation_at, values_of_points, workload_at


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point of a sweep as an implementation with a name of its own, at its workload."""

    values: Mapping[str, int]
    implementation: Implementation
    workload: Workload

    @property
    def name(self) -> str:
        """`online_tiles-3`, unique in the sweep."""
        return self.implementation.name


def run_sweep_job(job: SweepJob, workspace: Workspace) -> JobResult:
    """Return the sweep with the result of each point; without a GPU only what the interpreter and compilers say."""
    candidates = candidates_of(job)
    files = write_jobs(job, candidates, workspace.folder)
    if workspace.gpu:
        write_sources(workspace.folder / "site", job.sources)
        result = _measured(job, files, workspace)
    else:
        result = _interpreted(job, candidates, workspace)
    evaluations = {one.name: one for one in result.evaluations}
    points = tuple(_point(one, evaluations.get(one.name)) for one in candidates)
    sweep = measured_sweep(job, points)
    return replace(
        result, id=job.id, kind=job.kind, evaluations=(), artefacts={}, sweeps=() if result.error else (sweep,)
    )


def candidates_of(job: SweepJob) -> tuple[Candidate, ...]:
    """Return the points of a sweep in their order."""
    kernel, sweep = job.kernel, job.sweep
    subject = next(one for one in kernel.implementations if one.name == sweep.implementation)
    return tuple(
        Candidate(
            values,
            replace(implementation_at(subject, sweep, values), name=f"{subject.name}-{number}"),
            workload_at(job.workload, kernel.dims, values),
        )
        for number, values in enumerate(values_of_points(sweep), 1)
    )


def kernel_jobs(job: SweepJob, candidates: Sequence[Candidate]) -> tuple[KernelJob, ...]:
    """Return a kernel job for each workload, with the candidates that have it."""
    workloads = {one.workload.name: one.workload for one in candidates}
    return tuple(
        KernelJob(job.id, _kernel_with(job, candidates, workload), workload, job.dtype, job.sources, {}, job.params)
        for workload in workloads.values()
    )


def write_jobs(job: SweepJob, candidates: Sequence[Candidate], folder: Path) -> dict[str, Path]:
    """Write each kernel job into a file, and return the file of each candidate by its name, in order."""
    files: dict[str, Path] = {}
    for number, one in enumerate(kernel_jobs(job, candidates), 1):
        path = folder / f"kernel-job-{number}.json"
        path.write_text(json.dumps(to_plain(one)), encoding="utf-8")
        files |= {implementation.name: path for implementation in one.kernel.implementations}
    return files


def measured_sweep(job: SweepJob, points: tuple[SweepPoint, ...]) -> MeasuredSweep:
    """Return the sweep of a job with its points."""
    sweep, key = job.sweep, job.key
    place = (sweep.name, sweep.implementation, sweep.workload, sweep.dtype)
    return MeasuredSweep(*place, run="", points=points, key=key.digest, key_parts=key.parts, params=job.params)


def _kernel_with(job: SweepJob, candidates: Sequence[Candidate], workload: Workload) -> Kernel:
    ours = tuple(one.implementation for one in candidates if one.workload == workload)
    return replace(job.kernel, implementations=ours, wrong=(), goals=(), sweeps=())


def _measured(job: SweepJob, files: Mapping[str, Path], workspace: Workspace) -> JobResult:
    folder = workspace.folder

    def process(names: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
        arguments = [str(folder / "site"), *(f"{files[name]}:{name}" for name in names)]
        return lines_of_process("sweep_process", arguments, workspace, deadline_s(names))

    began = time.monotonic()
    result = evaluate_in_processes(job, list(files), process)
    seconds = round(time.monotonic() - began, 4)
    return replace(result, seconds={"sweeps": seconds, "total": seconds})


def _interpreted(job: SweepJob, candidates: Sequence[Candidate], workspace: Workspace) -> JobResult:
    """Return the evaluations of the points with the first workload: without a GPU no workload is computed."""
    first = kernel_jobs(job, candidates)[0]
    return run_kernel_job(first, replace(workspace, job_file=workspace.folder / "kernel-job-1.json"))


def _point(candidate: Candidate, evaluation: Evaluation | None) -> SweepPoint:
    """Return the point with the result of its evaluation, without the artefacts, which are not kept."""
    if evaluation is None or evaluation.role is not Role.IMPLEMENTATION:
        return SweepPoint(candidate.values, Status.NOT_RUN, "no GPU")
    compiled = evaluation.compilation
    return SweepPoint(
        candidate.values,
        evaluation.status,
        evaluation.message,
        evaluation.correctness,
        evaluation.performance,
        replace(compiled, ptx="", sass="") if compiled else None,
        evaluation.launch,
    )
