"""Where the seconds of a run went, in words."""

from __future__ import annotations

from sitegen.model.job import JobResult
from sitegen.results.stages import seconds_by_stage, stage_rows


def job(**seconds: float) -> JobResult:
    return JobResult(1, "softmax@a:b", "kernel", seconds=seconds)


def test_the_stages_of_all_jobs_are_added_up_and_the_longest_comes_first() -> None:
    found = seconds_by_stage([job(total=10.0, start=3.0, time=5.0), job(total=4.0, start=4.0)])
    assert list(found.items()) == [("start", 7.0), ("time", 5.0), ("rest", 2.0)]


def test_a_row_names_its_stage_in_words_with_seconds_and_share() -> None:
    rows = stage_rows([job(total=10.0, start=2.5, time=7.5)])
    assert rows[0] == ("timed rounds", "7.5 s", "75%")
    assert rows[-1] == ("all jobs together", "10.0 s", "")


def test_a_run_without_times_has_no_rows() -> None:
    assert stage_rows([job()]) == []
