"""List the jobs per minute on 1, 2, 4 and 8 GPUs of a host for jobs with fewer or cheaper CUDA contexts.  Needs no GPU.

    python tests/gpu/context_designs.py

Simulates queues (sitegen/execute/schedule.py) of the jobs that two_gpu_runs.json holds, without the first job of each
run.  A job has twelve contexts.  With fewer of them, or with cheaper ones, every stage that creates contexts is shorter
in proportion; the stages that end processes depend on their number only.
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
JOBS = [job for run in RUNS for job in run["on_one_gpu"][1:]]
GPUS = (1, 2, 4, 8)
EACH = 16
"""Jobs for each GPU."""
CONTEXTS = 12
CONTEXT_S, ALONE_S = 0.225, 0.15
"""Seconds of `start` for each evaluation, on a host of two H100 and on hosts of one GPU."""
ENDING = ("take over", "end")
DESIGNS = tuple((number, seconds) for number in (CONTEXTS, 6, 3) for seconds in (CONTEXT_S, ALONE_S))
HEAD = (
    "contexts",
    "each, s",
    "driver, s",
    *(f"per minute, {gpus}" for gpus in GPUS),
    *(f"ratio, {n}" for n in GPUS[1:]),
)


def changed(job: Stages, contexts: int, context_s: float) -> Mapping[str, float]:
    """Return the stages of a job with so many contexts of so many seconds."""
    share = contexts / CONTEXTS
    cheaper = {name: share * (1.0 if name in ENDING else context_s / CONTEXT_S) for name in DRIVER_STAGES_S}
    stages = {**job, **{name: job[name] * cheaper[name] for name in DRIVER_STAGES_S}}
    saved_s = sum(job[name] - stages[name] for name in DRIVER_STAGES_S)
    return {**stages, "whole": job["whole"] - saved_s, "total": job["total"] - saved_s}


def row(contexts: int, context_s: float) -> tuple[float, ...]:
    """Return the line of a design."""
    jobs = [changed(job, contexts, context_s) for job in JOBS]
    driver_s = fmean(sum(job[name] for name in DRIVER_STAGES_S) for job in jobs)
    rates = list(_rates(jobs))
    return (contexts, context_s, driver_s, *rates, *(rate / rates[0] for rate in rates[1:]))


def _rates(jobs: list[Mapping[str, float]]) -> Iterator[float]:
    """Yield the jobs per minute on each number of GPUs."""
    steps = [steps_of(job, job["whole"]) for job in jobs]
    for gpus in GPUS:
        queue = list(islice(cycle(steps), EACH * gpus))
        yield 60.0 * len(queue) / simulate_steps(queue, gpus).makespan


if __name__ == "__main__":
    print(table(HEAD, [row(*design) for design in DESIGNS]))
