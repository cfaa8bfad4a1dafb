"""Seconds of the stages of a job on one GPU → its steps, for the simulation of several GPUs of one host.

The records of 25 November 2026 show which stages take longer when another GPU of the host is busy: those in which
processes create or end CUDA contexts, as if the driver served one of them at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.execute.schedule import Needs, Step
from sitegen.measure.rounds import GENERATIONS
from sitegen.measure.workload import is_matrix_kernel
from sitegen.model.job import Job, KernelJob
from sitegen.results.stages import TOTAL

PROBES = 2
DRIVER_STAGES_S = {"start": 0.12, "check": 0.22, "next generations": 0.03, "take over": 0.08, "end": 0.05}
"""Seconds of each stage that needs the driver, for each evaluation of a job: the mean of three copy jobs of four
evaluations on one of four H100, while the others were idle, on 26 November 2026."""

Stages = Mapping[str, float]


def steps_of(stages: Stages, whole_s: float, creating: Needs = Needs.TURN) -> tuple[Step, ...]:
    """Return the steps of a job that took `whole_s` on one GPU; without stages it is one step that needs no driver.

    `start`, `take over` and `end` create contexts or end them.  During `check` the contexts of the later generations
    are created, and `next generations` waits for them.
    """
    of = {name: stages.get(name, 0.0) for name in DRIVER_STAGES_S}
    before_s = max(0.0, whole_s - stages.get(TOTAL, whole_s))
    last_s = stages.get("artefacts", 0.0)
    timed = Step(max(0.0, whole_s - sum(of.values()) - before_s - last_s) / GENERATIONS)
    over = Step(of["take over"] / (GENERATIONS - 1), Needs.DRIVER)
    contexts = (Step(of["start"], creating), Step(of["check"] + of["next generations"], creating))
    generations = (timed, *((over, timed) * (GENERATIONS - 1)))
    return Step(before_s), *contexts, *generations, Step(last_s), Step(of["end"], Needs.DRIVER)


def expected_stages(job: Job) -> Stages:
    """Return the expected seconds of the stages that need the driver; none for what is no kernel job."""
    if not isinstance(job, KernelJob):
        return {}
    kernel = job.kernel
    evaluations = len(kernel.implementations) + len(kernel.baselines) + (0 if is_matrix_kernel(job) else PROBES)
    return {name: seconds * evaluations for name, seconds in DRIVER_STAGES_S.items()}
