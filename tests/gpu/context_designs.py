"""List the jobs per minute on 1, 2, 4 and 8 GPUs of a host for jobs with fewer CUDA contexts.  Needs no GPU.

    python tests/gpu/context_designs.py

Simulates queues (sitegen/execute/schedule.py) of the jobs of the last run in two_gpu_runs.json, without its first job.
A job has twelve contexts.  With fewer of them, every stage that needs the driver is shorter in proportion.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean

from job_steps import DRIVER_STAGES_S, Stages, steps_of
from machine import table

from sitegen.execute.schedule import simulate_steps

RUNS = json.loads((Path(__file__).parent / "two_gpu_runs.json").read_text())
JOBS = RUNS[-1]["on_one_gpu"][1:]
GPUS = (1, 2, 4, 8)
EACH = 16
"""Jobs for each GPU."""
CONTEXTS = 12
DESIGNS = (CONTEXTS, 6, 3)
HEAD = ("contexts", "driver, s", *(f"per minute, {gpus}" for gpus in GPUS), *(f"ratio, {n}" for n in GPUS[1:]))


def changed(job: Stages, contexts: int) -> Mapping[str, float]:
    """Return the stages of a job with so many contexts."""
    stages = {**job, **{name: job[name] * contexts / CONTEXTS for name in DRIVER_STAGES_S}}
    saved_s = sum(job[name] - stages[name] for name in DRIVER_STAGES_S)
    return {**stages, "whole": job["whole"] - saved_s, "total": job["total"] - saved_s}


def row(contexts: int) -> tuple[float, ...]:
    """Return the line of a design."""
    jobs = [changed(job, contexts) for job in JOBS]
    driver_s = fmean(sum(job[name] for name in DRIVER_STAGES_S) for job in jobs)
    rates = list(_rates(jobs))
    return (contexts, driver_s, *rates, *(rate / rates[0] for rate in rates[1:]))


def _rates(jobs: list[Mapping[str, float]]) -> Iterator[float]:
    """Yield the jobs per minute on each number of GPUs."""
    steps = [steps_of(job, job["whole"]) for job in jobs]
    for gpus in GPUS:
        queue = list(islice(cycle(steps), EACH * gpus))
        yield 60.0 * len(queue) / simulate_steps(queue, gpus).makespan


if __name__ == "__main__":
    print(table(HEAD, [row(design) for design in DESIGNS]))
