"""A bundle with the tools of a kernel alone: its counters reach the record that an earlier run left in the site."""

from __future__ import annotations

import pytest

from sitegen.execute import session
from sitegen.execute.bundle import Results, read_bundle, write_bundle, write_results
from sitegen.execute.plan import plan
from sitegen.model.job import CallCounters, InspectJob, JobResult, KernelJob
from sitegen.model.record import Counters, Role

GPU, LATER = "nvidia-h200", "2026-11-22T06:00:00Z"
RECORD = "kernels/double/results/nvidia-h200.json"
COUNTERS = Counters(512.0, 512.0, 3.0, 5000.0, calibration={"copy bytes": 1.0})


@pytest.fixture
def jobs(root, made):
    """The jobs of a whole run, of which everything but the tools is stored."""
    due = plan(made.inventory(root), GPU)
    timed = [made.measured(job) for job in due if isinstance(job, KernelJob)]
    outcome = session.store_results(root, made.inventory(root), due, made.results(*timed))
    assert outcome.stored and not outcome.diagnostics
    return due


def answered(root, made, jobs, tmp_path):
    """Return the results of a bundle with the tools' job alone, and the bundle."""
    alone = [job for job in jobs if isinstance(job, InspectJob) or job.id == "ceilings"]
    write_bundle(alone, session.commit_of(root), tmp_path / "tools.zip", "0" * 32)
    counted = tuple(
        CallCounters(role, name, "64", "float32", {}, COUNTERS)
        for role, name in ((Role.IMPLEMENTATION, "right"), (Role.BASELINE, "torch"))
    )
    result = JobResult(1, "double/tools", "inspect", made.environment, counted=counted)
    sent = read_bundle(tmp_path / "tools.zip")
    back = Results(LATER, sent.commit, made.results(result).results, answers=sent.id)
    write_results(back, tmp_path / "result.zip")
    return tmp_path / "result.zip", tmp_path / "tools.zip"


def test_tools_alone_are_stored_and_a_second_accept_changes_no_byte(root, made, jobs, tmp_path):
    files = answered(root, made, jobs, tmp_path)
    history = (root / RECORD).with_suffix(".history.jsonl").read_bytes()
    outcome = session.accept(root, made.inventory(root), *files)
    assert outcome.diagnostics == () and len(outcome.stored.records) == 1
    inventory = made.inventory(root)
    record = inventory.records.kernels["double", GPU]
    counted = {(e.name, e.workload, e.dtype) for e in record.evaluations if e.counters and e.counters.run == LATER}
    assert counted == {("right", "64", "float32"), ("torch", "64", "float32")}
    assert [run.id for run in record.runs] == ["2026-11-21T06:00:00Z", LATER]
    assert (root / RECORD).with_suffix(".history.jsonl").read_bytes() == history
    once = (root / RECORD).read_bytes()
    session.accept(root, inventory, *files)
    assert (root / RECORD).read_bytes() == once


def test_tools_of_code_that_was_measured_again_since_leave_the_record_as_it_is(root, made, jobs, tmp_path):
    files = answered(root, made, jobs, tmp_path)
    for name in ("right", "other", "reference"):
        path = root / f"kernels/double/{name}.py"
        path.write_text(path.read_text() + "another = 1\n")
    inventory = made.inventory(root)
    due = plan(inventory, GPU, ["double/right", "double/other"])
    timed = [made.measured(job) for job in due if isinstance(job, KernelJob)]
    again = made.replace(made.results(*timed), run="2026-11-21T18:00:00Z")
    assert session.store_results(root, inventory, due, again).stored
    before = (root / RECORD).read_bytes()
    outcome = session.accept(root, made.inventory(root), *files)
    assert outcome.stored.records == () and (root / RECORD).read_bytes() == before
    (sentence,) = outcome.stored.unused
    assert "right@64:float32" in sentence and "right.py changed" in sentence and "torch@64:float32" in sentence
