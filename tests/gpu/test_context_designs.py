"""Jobs with fewer contexts: what they take, and which designs reach the lines of several_gpus.py."""

from __future__ import annotations

import pytest
from context_designs import CONTEXTS, JOBS, changed, row
from job_steps import DRIVER_STAGES_S


def test_todays_design_changes_no_job():
    assert all(changed(job, CONTEXTS) == pytest.approx(job) for job in JOBS)


def test_what_the_driver_saves_the_job_saves_and_no_other_stage_changes():
    for job in JOBS:
        new = changed(job, 6)
        saved = sum(job[name] - new[name] for name in DRIVER_STAGES_S)
        assert job["whole"] - new["whole"] == pytest.approx(saved) == job["total"] - new["total"]
        assert new["end"] == pytest.approx(job["end"] / 2) and new["plan"] == job["plan"]


def test_half_of_the_contexts_reach_the_lines_of_two_and_four_gpus_and_today_that_of_four_is_missed():
    *_, two, four, _ = row(CONTEXTS)
    assert two > 1.85 and four < 3.7
    *_, two, four, _ = row(6)
    assert two > 1.9 and four > 3.7
