"""The order of a run, and the simulation of its schedule: no GPU."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

from sitegen.execute.local import execute
from sitegen.execute.schedule import Loss, Turn, least_makespan, longest_first, simulate
from sitegen.execute.targets import Device, Target
from sitegen.model.job import CeilingsJob

GPUS = (1, 2, 4, 8, 64)


def sleep(spec):
    time.sleep(spec["seconds"])
    return {"id": spec["id"], "kind": "test"}


def assert_sound(schedule, seconds):
    """Every job ends once, and no GPU has two jobs at once."""
    assert sorted(turn.job for turn in schedule.turns if not turn.lost) == list(range(len(seconds)))
    for gpu in {turn.gpu for turn in schedule.turns}:
        mine = sorted((turn.began, turn.ended) for turn in schedule.turns if turn.gpu == gpu)
        assert all(first[1] <= second[0] for first, second in pairwise(mine))


def test_no_jobs_take_no_time():
    assert simulate([], 4, start_s=41.0).makespan == 0.0
    assert least_makespan([], 4) == 0.0


def test_a_job_that_is_lost_goes_to_the_front_and_its_gpu_starts_anew():
    schedule = simulate([10.0, 10.0, 5.0], 2, start_s=1.0, losses=[Loss(1, 4.0)])
    assert schedule.turns == (
        Turn(1, 1, 0.0, 4.0, lost=True),
        Turn(0, 0, 0.0, 11.0),
        Turn(1, 1, 4.0, 15.0),
        Turn(0, 2, 11.0, 16.0),
    )
    assert schedule.makespan == 16.0


def test_the_loss_of_an_idle_worker_costs_nothing():
    assert simulate([3.0], 2, losses=[Loss(1, 1.0), Loss(0, 3.0)]).makespan == 3.0


def test_a_worker_that_is_lost_again_and_again_still_ends_its_job():
    schedule = simulate([5.0], 1, losses=[Loss(0, 1.0), Loss(0, 1.0), Loss(0, 2.0)])
    assert schedule.makespan == 7.0
    assert_sound(schedule, [5.0])


def test_a_long_job_at_the_end_keeps_one_gpu_busy_and_at_the_start_it_does_not():
    jobs = [1.0] * 6 + [6.0]
    assert simulate(jobs, 2).makespan == 9.0
    assert simulate(sorted(jobs, reverse=True), 2).makespan == least_makespan(jobs, 2) == 6.0


@pytest.mark.parametrize("gpus", GPUS)
def test_the_longest_first_are_within_a_third_of_the_bound_and_lost_workers_lose_no_job(gpus):
    draws = random.Random(gpus)
    for _ in range(50):
        jobs = sorted((draws.lognormvariate(3, 1) for _ in range(draws.randrange(1, 200))), reverse=True)
        schedule = simulate(jobs, gpus, start_s=41.0)
        assert least_makespan(jobs, min(gpus, len(jobs)), 41.0) <= schedule.makespan + 1e-9
        # Graham 1969, for jobs that all are known at the start
        assert schedule.makespan - 41.0 <= (4 / 3 - 1 / (3 * gpus)) * _best(jobs, gpus) + 1e-9
        losses = [Loss(draws.randrange(gpus), draws.uniform(0, schedule.makespan)) for _ in range(5)]
        disturbed = simulate(jobs, gpus, start_s=41.0, losses=losses)
        assert_sound(schedule, jobs)
        assert_sound(disturbed, jobs)


def _best(jobs, gpus):
    """Return a lower limit of the best makespan that is known to be within Graham's bound: also two jobs on one GPU."""
    pair = jobs[gpus - 1] + jobs[gpus] if len(jobs) > gpus else 0.0
    return max(least_makespan(jobs, gpus), pair)


def test_the_order_is_ceilings_then_ranks_then_the_longest_and_equal_jobs_stay():
    jobs = [SimpleNamespace(id=name) for name in "abcd"]
    seconds = {"a": 1.0, "b": 5.0, "c": 5.0, "d": 9.0, "ceilings": 0.0}
    ordered = longest_first([*jobs, CeilingsJob()], seconds, {"d": 1})
    assert [job.id for job in ordered] == ["ceilings", "b", "c", "a", "d"]


def test_the_simulation_foretells_what_the_workers_of_this_machine_do():
    seconds = [0.9, 0.7, 0.5, 0.5, 0.4, 0.2]
    specs = [{"id": str(n), "kind": "test", "seconds": one} for n, one in enumerate(seconds)]
    began = dict[str, float]()
    report = lambda step: began.setdefault(step.job, time.monotonic())  # noqa: E731
    list(execute(specs[:2], Target((Device(), Device())), lambda _: None, sleep))  # loads what Python keeps
    list(execute(specs, Target((Device(), Device())), report, sleep))
    measured = time.monotonic() - min(began.values())
    # starting a worker takes longer than 10 % of such short jobs, and a busy machine longer still
    assert simulate(seconds, 2).makespan <= measured <= simulate(seconds, 2, start_s=2.0).makespan + 2.0
