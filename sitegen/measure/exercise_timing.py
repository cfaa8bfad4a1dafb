"""A right kernel of an exercise → its time on this GPU, and that of the author's solution.

Both are timed in this process by the rounds of `sitegen try`: rough figures, which are not stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from sitegen.measure.memory_plan import check_bytes
from sitegen.measure.try_process import COPY, TryProcess
from sitegen.model.exercise import ExerciseJob, Speed, Timing, dtype_of
from sitegen.model.job import KernelJob
from sitegen.model.kernel import Workload
from sitegen.model.plain import to_plain
from sitegen.model.record import Evaluation

CHECK_SHARE = 0.4
"""Largest share of the memory that the check of the timed shape may take; the rest holds the buffers of the rounds."""


def time_kernels(job: ExerciseJob, folder: Path) -> Timing:
    """Check and time both kernels of the job at its timed shape; `folder` holds their sources."""
    kernel_job = timed_job(job, torch.cuda.get_device_properties(0).total_memory)
    file = folder / "timed.json"
    file.write_text(json.dumps(to_plain(kernel_job)), encoding="utf-8")
    process = TryProcess(kernel_job, file, folder, lambda warning: None)
    process.start()
    reader, author = (process.evaluate(one.name)[0] for one in kernel_job.kernel.implementations)
    message = "" if reader.performance else reader.message
    return Timing(_words(kernel_job.workload.dims), _speed(reader), _speed(author), message)


def timed_job(job: ExerciseJob, memory_bytes: int) -> KernelJob:
    """Return the job of the first workload of the kernel, with its first size halved until a check fits the memory."""
    kernel = replace(job.kernel, checks=())
    params = {name: values[0] for name, values in kernel.params.items()}
    made = KernelJob(job.id, kernel, kernel.workloads[0], dtype_of(kernel), job.sources, {}, params)
    while check_bytes(made) > CHECK_SHARE * memory_bytes:
        made = replace(made, workload=_halved(made.workload))
    return made


def _halved(workload: Workload) -> Workload:
    first = next(iter(workload.dims))
    return replace(workload, dims={**workload.dims, first: workload.dims[first] // 2})


def _speed(evaluation: Evaluation) -> Speed | None:
    if evaluation.performance is None:
        return None
    ratios = {ratio.baseline: ratio.value for ratio in evaluation.performance.ratios}
    of_copy = ratios.pop(COPY)
    baseline, of_baseline = next(iter(ratios.items()), ("", 0.0))
    spill_bytes = evaluation.compilation.spill_bytes if evaluation.compilation else 0
    return Speed(evaluation.performance.median_us, of_copy, baseline, of_baseline, spill_bytes)


def _words(dims: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in dims.items())
