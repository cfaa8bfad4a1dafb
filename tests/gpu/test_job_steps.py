"""The steps of a job from its stages, and the simulation of two GPUs beside what two H100 did.  No GPU is needed."""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import pytest
from job_steps import DRIVER_STAGES_S, expected_stages, steps_of
from machine import jobs_of, the_site

from sitegen.execute.schedule import Needs, simulate_steps
from sitegen.model.job import KernelJob

RUNS = json.loads((Path(__file__).parent / "two_gpu_runs.json").read_text())
"""Runs of several_gpus.py in November 2026: each job on one GPU with its stages, and the seconds on two GPUs."""


def seconds_of(run, creating, shares_driver=True):
    """Return the simulated seconds of a run on two GPUs."""
    first, *others = run["on_one_gpu"]
    steps = [steps_of(job if shares_driver else {}, job["whole"], creating) for job in others]
    start_s = first["whole"] - median(job["whole"] for job in others)
    return simulate_steps(list(islice(cycle(steps), run["jobs_on_two_gpus"])), 2, start_s).makespan


def whole(steps):
    return sum(step.seconds for step in steps)


@pytest.mark.parametrize("run", RUNS, ids=["beside others", "in turn", "few queues"])
def test_the_simulation_is_within_a_tenth_of_each_run_and_farther_off_without_the_driver(run):
    creating = Needs.TURN if run["in_turn"] else Needs.DRIVER
    assert seconds_of(run, creating) == pytest.approx(run["seconds_on_two_gpus"], rel=0.1)
    alone = seconds_of(run, creating, shares_driver=False)
    assert abs(alone - run["seconds_on_two_gpus"]) > abs(seconds_of(run, creating) - run["seconds_on_two_gpus"])


def test_the_simulation_tells_contexts_in_turn_from_contexts_beside_others():
    for run in RUNS:
        assert seconds_of(run, Needs.TURN) < 0.95 * seconds_of(run, Needs.DRIVER)


@pytest.mark.parametrize("job", [one for run in RUNS for one in run["on_one_gpu"]])
def test_the_steps_of_a_job_take_as_long_as_the_job(job):
    assert whole(steps_of(job, job["whole"])) == pytest.approx(job["whole"])


def test_a_job_without_stages_needs_no_driver_and_one_with_more_than_it_took_has_no_negative_step():
    assert whole(steps_of({}, 10.0)) == pytest.approx(10.0)
    assert not any(step.seconds for step in steps_of({}, 10.0) if step.needs is not Needs.NOTHING)
    assert min(step.seconds for step in steps_of({"start": 9.0, "artefacts": 3.0}, 10.0)) == 0.0


def test_a_kernel_job_needs_the_driver_for_each_evaluation_and_other_jobs_do_not():
    site = the_site()
    for job in jobs_of(site, [kernel for kernel in site.kernels if kernel.name in ("copy", "softmax")]):
        needed = sum(expected_stages(job).values()) / sum(DRIVER_STAGES_S.values())
        assert needed == pytest.approx(round(needed))
        assert (needed >= 3) == isinstance(job, KernelJob)
