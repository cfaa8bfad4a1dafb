"""The entries above the table of a run: a warning that several jobs share is said once."""

from __future__ import annotations

import pytest

from sitegen.cli.verdicts import failures
from sitegen.model.job import JOB_SCHEMA, JobResult


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        (["ceilings"], "ceilings: slow"),
        (["ceilings", "axpy/tools"], "ceilings and 1 further job: slow"),
        (["ceilings", "axpy/tools", "axpy/wrong"], "ceilings and 2 further jobs: slow"),
    ],
)
def test_shared_warning_names_its_first_job_and_counts_the_others(jobs: list[str], said: str) -> None:
    assert list(failures([JobResult(JOB_SCHEMA, job, "kernel", warnings=("slow",)) for job in jobs])) == [said]
