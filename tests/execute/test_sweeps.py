"""A sweep is planned, sent, judged and stored like an evaluation of its kernel."""

from __future__ import annotations

import pytest

from sitegen.execute import session
from sitegen.execute.bundle import read_bundle
from sitegen.execute.plan import known_names, plan, status
from sitegen.execute.session import store_results
from sitegen.model.job import CeilingsJob, JobResult, SweepJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Correctness, MeasuredSweep, Performance, Ratio, SweepPoint
from sitegen.model.sweep_points import values_of_points
from sitegen.results.samples import LEAST_POINT_ROUNDS

GPU = "nvidia-h200"
TITLE = "double/sweep/sizes"
SWEEPS = """sweeps:
  - {name: sizes, title: Time over N, implementation: right, workload: "64", dtype: float32, dims: {N: [256, 128]}}
"""


@pytest.fixture
def swept(root):
    """The site with a sweep."""
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text() + SWEEPS)
    return root


def sweep_jobs(made, root, *names: str) -> list[SweepJob]:
    return [job for job in plan(made.inventory(root), GPU, names) if isinstance(job, SweepJob)]


def measured(made, job: SweepJob, median_us: float = 2.0) -> JobResult:
    """Return a possible result of the job, whose points all took equally long."""
    timed = Performance(*(median_us,) * 6, 240, (median_us,) * LEAST_POINT_ROUNDS, (Ratio("torch", 2.0, 1.9, 2.1),))
    checked = Correctness(0.0, 0.0, 0.0, 0.0, job.kernel.tolerance[job.dtype], 2, 3, ("normal",), True)
    points = tuple(SweepPoint(values, Status.PASSED, "", checked, timed) for values in values_of_points(job.sweep))
    place = (job.sweep.name, job.sweep.implementation, job.sweep.workload, job.sweep.dtype)
    sweep = MeasuredSweep(*place, "", points, job.key.digest, job.key.parts)
    return JobResult(1, job.id, "sweep", made.environment, sweeps=(sweep,))


def test_a_sweep_is_due_until_it_is_stored_and_again_when_its_code_changes(swept, made) -> None:
    [job] = sweep_jobs(made, swept)
    assert (job.id, job.workload.name, job.dtype) == (TITLE, "64", "float32")
    outcome = store_results(swept, made.inventory(swept), [CeilingsJob(), job], made.results(measured(made, job)))
    assert outcome.diagnostics == ()
    assert sweep_jobs(made, swept) == []
    assert status(made.inventory(swept), GPU)[TITLE].sentence == "fresh"
    (swept / "kernels/double/right.py").write_text("def double(x, *, out=None): return x\n")
    assert status(made.inventory(swept), GPU)[TITLE].sentence == "stale: right.py changed"
    assert len(sweep_jobs(made, swept)) == 1


@pytest.mark.parametrize("name", [TITLE, "double/sweep", "double"])
def test_a_name_selects_a_sweep(swept, made, name) -> None:
    assert [job.id for job in sweep_jobs(made, swept, name)] == [TITLE]


def test_the_names_of_evaluations_select_no_sweep(swept, made) -> None:
    for name in ("double/right", "double/wrong", "double/right@64:float32", "posts/first"):
        assert sweep_jobs(made, swept, name) == []


def test_a_sweep_alone_brings_the_ceilings_and_no_tools(swept, made) -> None:
    assert [job.id for job in plan(made.inventory(swept), GPU, [TITLE])] == ["ceilings", TITLE]
    assert "double/sweep" in known_names(made.inventory(swept))


def test_a_kernel_without_sweeps_has_no_group_for_them(root, made) -> None:
    assert "double/sweep" not in known_names(made.inventory(root))


def test_a_sweep_job_carries_its_sources_and_survives_json_and_a_bundle(swept, made, tmp_path) -> None:
    [job] = sweep_jobs(made, swept)
    assert set(job.sources) == {"kernels/double/reference.py", "kernels/double/right.py"}
    assert from_plain(SweepJob, to_plain(job)) == job
    session.bundle(swept, made.inventory(swept), tmp_path / "bundle.zip", [TITLE], gpu=GPU)
    assert read_bundle(tmp_path / "bundle.zip").jobs[1] == job


def test_the_order_of_the_values_is_that_of_kernel_yaml_also_in_a_bundle(swept, made, tmp_path) -> None:
    session.bundle(swept, made.inventory(swept), tmp_path / "bundle.zip", [TITLE], gpu=GPU)
    sent = read_bundle(tmp_path / "bundle.zip").jobs[1]
    assert isinstance(sent, SweepJob)
    assert values_of_points(sent.sweep) == ({"N": 256}, {"N": 128})


def test_a_sweep_that_no_gpu_can_do_is_refused_and_nothing_is_stored(swept, made) -> None:
    [job] = sweep_jobs(made, swept)
    outcome = store_results(swept, made.inventory(swept), [CeilingsJob(), job], made.results(measured(made, job, 1e-4)))
    assert [d.code for d in outcome.diagnostics] == ["SG403", "SG403"]
    assert not (swept / "kernels/double/results").exists()


def test_a_job_that_failed_as_a_whole_leaves_the_stored_sweep(swept, made) -> None:
    [job] = sweep_jobs(made, swept)
    store_results(swept, made.inventory(swept), [CeilingsJob(), job], made.results(measured(made, job)))
    lost = JobResult(1, job.id, "sweep", made.environment, error="the worker was lost")
    outcome = store_results(swept, made.inventory(swept), [CeilingsJob(), job], made.results(lost))
    assert outcome.diagnostics == () and outcome.stored is not None and len(outcome.stored.lost) == 1
    assert status(made.inventory(swept), GPU)[TITLE].sentence == "fresh"
