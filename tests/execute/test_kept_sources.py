"""A run keeps the texts that it measured, and a comment that changes later asks for no other run."""

from __future__ import annotations

import gzip

import pytest

from sitegen.execute import session
from sitegen.execute.plan import plan, status
from sitegen.execute.replay import replay_of
from sitegen.model.job import CallCounters, InspectJob, JobResult, KernelJob, RejectJob, SweepJob
from sitegen.model.kernel import Status
from sitegen.model.record import Correctness, Counters, MeasuredSweep, Performance, Ratio, Rejection, Role, SweepPoint
from sitegen.model.sweep_points import values_of_points
from sitegen.results.keys import source_part
from sitegen.results.samples import LEAST_POINT_ROUNDS

GPU, TITLE, SWEEP = "nvidia-h200", "double/right@64:float32", "double/sweep/sizes"
LATER = "2026-11-22T06:00:00Z"
SWEEPS = """sweeps:
  - {name: sizes, title: Time over N, implementation: right, workload: "64", dtype: float32, dims: {N: [256, 128]}}
"""
COUNTERS = Counters(512.0, 512.0, 3.0, 5000.0, calibration={"copy bytes": 1.0})
SOURCES = ("reference", "right", "other", "wrong/off")


def rejected(made, job: RejectJob) -> JobResult:
    key = job.keys["off"]
    off = Rejection(
        "off", run="", status=Status.INCORRECT, expected=Status.INCORRECT, key=key.digest, key_parts=key.parts
    )
    return JobResult(1, job.id, "reject", made.environment, rejections=(off,))


def swept(made, job: SweepJob) -> JobResult:
    timed = Performance(*(2.0,) * 6, 240, (2.0,) * LEAST_POINT_ROUNDS, (Ratio("torch", 2.0, 1.9, 2.1),))
    checked = Correctness(0.0, 0.0, 0.0, 0.0, job.kernel.tolerance[job.dtype], 2, 3, ("normal",), True)
    points = tuple(SweepPoint(values, Status.PASSED, "", checked, timed) for values in values_of_points(job.sweep))
    place = (job.sweep.name, job.sweep.implementation, job.sweep.workload, job.sweep.dtype)
    sweep = MeasuredSweep(*place, "", points, job.key.digest, job.key.parts)
    return JobResult(1, job.id, "sweep", made.environment, sweeps=(sweep,))


@pytest.fixture
def stored(root, made):
    """The site with a record of everything that a kernel can have."""
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text() + SWEEPS)
    inventory = made.inventory(root)
    jobs = plan(inventory, GPU, ["double"])
    by_kind = {
        KernelJob: made.measured,
        RejectJob: lambda job: rejected(made, job),
        SweepJob: lambda job: swept(made, job),
    }
    brought = [by_kind[type(job)](job) for job in jobs if type(job) in by_kind]
    outcome = session.store_results(root, inventory, jobs, made.results(*brought))
    assert outcome.diagnostics == () and outcome.stored
    return root


def write(root, name: str, text: str) -> None:
    (root / f"kernels/double/{name}.py").write_text(text)


def with_comments(root) -> None:
    for name in SOURCES:
        before = (root / f"kernels/double/{name}.py").read_text()
        write(root, name, f'"""A docstring."""\n\n# A comment.\n{before}')


def kernel_states(made, root) -> set[str]:
    return {state.sentence for title, state in status(made.inventory(root), GPU).items() if title.startswith("double/")}


def test_a_run_keeps_each_text_that_its_keys_name(stored, made):
    folder = stored / "kernels/double/results/artefacts"
    kept = {path.name: gzip.decompress(path.read_bytes()).decode() for path in folder.glob("*.source.gz")}
    texts = {made.files[f"kernels/double/{name}.py"] for name in SOURCES}
    assert kept == {f"{source_part(text)}.source.gz": text for text in texts}


def test_other_comments_make_no_job_for_evaluations_rejections_or_sweeps(stored, made):
    assert kernel_states(made, stored) == {"fresh"} and not plan(made.inventory(stored), GPU, ["double"])
    with_comments(stored)
    assert kernel_states(made, stored) == {"fresh"} and not plan(made.inventory(stored), GPU, ["double"])
    assert replay_of(made.inventory(stored), GPU, TITLE).is_same_code


def test_other_code_makes_jobs_and_only_its_evaluations_are_compared_with_the_last_ones(stored, made):
    with_comments(stored)
    write(stored, "right", "# A comment.\ndef double(x, *, out=None): return 2 * x\n")
    inventory = made.inventory(stored)
    assert status(inventory, GPU)[TITLE].sentence == status(inventory, GPU)[SWEEP].sentence == "stale: right.py changed"
    assert not replay_of(inventory, GPU, TITLE).is_same_code
    jobs = [job for job in plan(inventory, GPU, ["double"]) if isinstance(job, KernelJob)]
    assert jobs and all(set(job.previous) == {"right"} for job in jobs)


def test_counters_of_a_later_run_reach_results_with_other_comments(stored, made):
    with_comments(stored)
    inventory = made.inventory(stored)
    jobs = plan(inventory, GPU, ["double/tools"])
    (tools,) = [job for job in jobs if isinstance(job, InspectJob)]
    counted = tuple(
        CallCounters(role, name, "64", "float32", {}, COUNTERS)
        for role, name in ((Role.IMPLEMENTATION, "right"), (Role.BASELINE, "torch"))
    )
    result = JobResult(1, tools.id, "inspect", made.environment, counted=counted)
    outcome = session.store_results(stored, inventory, jobs, made.replace(made.results(result), run=LATER))
    assert outcome.stored and outcome.stored.unused == ()
    record = made.inventory(stored).records.kernels["double", GPU]
    assert {e.name for e in record.evaluations if e.counters} == {"right", "torch"}
    assert kernel_states(made, stored) == {"fresh"}, "the texts of the first run are kept"


def test_a_text_that_was_measured_again_replaces_the_older_one(stored, made):
    with_comments(stored)
    inventory = made.inventory(stored)
    jobs = plan(inventory, GPU, ["double"], everything=True)
    timed = [made.measured(job) for job in jobs if isinstance(job, KernelJob)]
    again = made.replace(made.results(*timed), run=LATER)
    assert session.store_results(stored, inventory, jobs, again).stored
    folder = stored / "kernels/double/results/artefacts"
    now = {(stored / f"kernels/double/{name}.py").read_text() for name in SOURCES}
    then = {made.files[f"kernels/double/{name}.py"] for name in SOURCES}
    kept = {path.name for path in folder.glob("*.source.gz")}
    assert kept == {f"{source_part(text)}.source.gz" for text in now | then}, "the rejection and the sweep name then"
