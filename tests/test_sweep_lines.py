"""The lines about sweeps that `sitegen run` prints: a row for each, and the reason of each failure once."""

from __future__ import annotations

from sitegen.cli.common import any_failed
from sitegen.cli.verdicts import Failures, verdicts
from sitegen.execute.progress import end_of_job
from sitegen.model.job import JOB_SCHEMA, JobResult
from sitegen.model.kernel import Status
from sitegen.model.plain import to_plain
from sitegen.model.record import Environment, MeasuredSweep, SweepPoint

HERE = Environment("NVIDIA H200", "sm_90", 132, 1, 1, "", "", "", "", "", 0.0, 0.0, False)


def result(*points: SweepPoint, environment: Environment | None = None) -> JobResult:
    sweep = MeasuredSweep("threads", "online_tiles", "8x8", "float32", "", points)
    return JobResult(JOB_SCHEMA, "softmax/sweep/threads", "sweep", environment, sweeps=(sweep,))


def point(threads: int, status: Status = Status.PASSED, message: str = "") -> SweepPoint:
    return SweepPoint({"THREADS": threads}, status, message)


def test_a_sweep_is_a_row_with_its_points_by_status() -> None:
    several = result(point(128), point(256), point(1024, Status.RUNTIME_ERROR, "too many registers"))
    assert verdicts([several]) == ["softmax/sweep/threads  3 points: 2 passed, 1 runtime error  float32"]


def test_a_reason_that_several_points_share_is_told_once_with_their_values() -> None:
    wrong = (point(n, Status.INCORRECT, "relative error 1 exceeds 1e-6") for n in (128, 256))
    assert list(Failures().new_in([result(*wrong, point(512))])) == [
        "error: softmax/sweep/threads (THREADS=128, THREADS=256): incorrect: relative error 1 exceeds 1e-6"
    ]


def test_a_point_that_failed_is_a_failure_without_a_gpu_and_a_result_with_one() -> None:
    assert result(point(128, Status.COMPILE_ERROR)).incorrect
    assert any_failed([result(point(128, Status.COMPILE_ERROR))])
    assert not any_failed([result(point(128, Status.COMPILE_ERROR), environment=HERE)])


def test_points_that_were_not_run_are_no_failure() -> None:
    assert not any_failed([result(point(128, Status.NOT_RUN, "no GPU"))])
    assert list(Failures().new_in([result(point(128, Status.NOT_RUN, "no GPU"))])) == []


def test_job_whose_point_cannot_run_on_a_gpu_has_finished_and_without_one_it_has_failed() -> None:
    for environment, word in ((HERE, "finished"), (None, "failed")):
        failing = result(point(1024, Status.COMPILE_ERROR), environment=environment)
        assert end_of_job(failing.id, {"results": [to_plain(failing)]}, 1, 1, 2.0).state == word
