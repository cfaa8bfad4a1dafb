"""The entries of a run beside its table: shared warnings are said once, failures come apart and are called errors."""

from __future__ import annotations

import pytest

from sitegen.cli.verdicts import Failures, notes, verdicts
from sitegen.model.job import JOB_SCHEMA, NO_DTYPE, UNJUDGED, JobResult
from sitegen.model.kernel import Status
from sitegen.model.record import Evaluation, Rejection, Role


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        (["ceilings"], "ceilings: slow"),
        (["ceilings", "axpy/tools"], "ceilings and 1 further job: slow"),
        (["ceilings", "axpy/tools", "axpy/wrong"], "ceilings and 2 further jobs: slow"),
    ],
)
def test_shared_warning_names_its_first_job_and_counts_the_others(jobs: list[str], said: str) -> None:
    assert list(notes([JobResult(JOB_SCHEMA, job, "kernel", warnings=("slow",)) for job in jobs])) == [said]


def failed(status: Status, message: str, *names: str) -> JobResult:
    """Return the result of a job in which these implementations and one variant end in the same way."""
    found = tuple(Evaluation(Role.IMPLEMENTATION, one, "8", "float32", "", status, message=message) for one in names)
    return JobResult(JOB_SCHEMA, "axpy@8:float32", "kernel", evaluations=found)


def test_a_failed_reference_is_named_in_place_of_those_that_wait_for_it() -> None:
    message = "kernels/axpy/reference.py: `reference` raised NameError: name 'z' is not defined"
    result = failed(Status.RUNTIME_ERROR, message, "tile", "naive")
    rejected = (Rejection("no_mask", Status.OUT_OF_BOUNDS, Status.RUNTIME_ERROR, "", message=message),)
    both = [result, JobResult(JOB_SCHEMA, "axpy/wrong", "reject", rejections=rejected)]
    assert list(Failures().new_in(both)) == [f"error: {message}"] and list(notes(both)) == []
    assert sum("  not judged: the reference failed" in line for line in verdicts(both)) == 3


def test_what_the_gpu_lacks_is_told_and_is_no_error() -> None:
    small = "a block takes 192 KiB of shared memory, this GPU has 99 KiB"
    results = [failed(Status.UNSUPPORTED, message, "mma") for message in (small, f"{NO_DTYPE} float32")]
    assert [line.split("  ")[1] for line in verdicts(results)] == [f"unsupported ({small})", "unsupported"]
    assert list(Failures().new_in(results)) == []


def test_what_was_not_judged_is_no_error_and_a_job_that_failed_is_one() -> None:
    unjudged, lost = failed(Status.NOT_RUN, UNJUDGED, "tile"), JobResult(JOB_SCHEMA, "softmax", "kernel", error="lost")
    no_gpu = JobResult(JOB_SCHEMA, "ceilings", "ceilings", error="no GPU")
    assert list(Failures().new_in([unjudged, no_gpu, lost])) == ["error: softmax: lost"]
    assert list(notes([unjudged, no_gpu, lost])) == [f"axpy/tile (8:float32): not judged: {UNJUDGED}"]


def test_a_failure_is_told_once_in_a_run_and_that_of_another_implementation_is_another() -> None:
    told = Failures()
    assert told.new_in([failed(Status.INCORRECT, "too large", "tile")]) == [
        "error: axpy/tile (8:float32): incorrect: too large"
    ]
    assert told.new_in([failed(Status.INCORRECT, "too large", "tile", "naive")]) == [
        "error: axpy/naive (8:float32): incorrect: too large"
    ]
    assert told.new_in([failed(Status.INCORRECT, "too small", "tile")]) and told.count == 3


def test_a_failed_reference_is_told_once_in_a_run() -> None:
    message = "kernels/axpy/reference.py: `reference` raised NameError: name 'z' is not defined"
    told = Failures()
    assert len(told.new_in([failed(Status.RUNTIME_ERROR, message, "tile")])) == 1
    assert told.new_in([failed(Status.RUNTIME_ERROR, message, "naive")]) == []


def test_a_launcher_that_returns_nothing_has_no_wrong_shape() -> None:
    result = failed(Status.WRONG_SHAPE, "the launcher returned None, not a tensor: end it with `return out`", "tile")
    assert verdicts([result]) == ["axpy/tile  no tensor returned  float32"]
    assert Failures().new_in([result])[0].startswith("error: axpy/tile (8:float32): no tensor returned: the launcher")
    assert verdicts([failed(Status.WRONG_SHAPE, "shape (1, 3)", "tile")]) == ["axpy/tile  wrong shape  float32"]
