"""Jobs with fewer or cheaper contexts: what they take, and which designs reach the lines of several_gpus.py."""

from __future__ import annotations

import pytest
from context_designs import ALONE_S, CONTEXT_S, CONTEXTS, JOBS, changed, row
from job_steps import DRIVER_STAGES_S


def test_todays_design_changes_no_job():
    assert all(changed(job, CONTEXTS, CONTEXT_S) == pytest.approx(job) for job in JOBS)


def test_what_the_driver_saves_the_job_saves_and_no_other_stage_changes():
    for job in JOBS:
        new = changed(job, 6, ALONE_S)
        saved = sum(job[name] - new[name] for name in DRIVER_STAGES_S)
        assert job["whole"] - new["whole"] == pytest.approx(saved) == job["total"] - new["total"]
        assert new["end"] == job["end"] / 2 and new["plan"] == job["plan"]


def test_cheaper_contexts_alone_reach_neither_line_and_a_quarter_of_them_reaches_both():
    *_, two, four, _ = row(CONTEXTS, ALONE_S)
    assert two < 1.9 and four < 3.7
    *_, two, four, _ = row(3, CONTEXT_S)
    assert two > 1.9 and four > 3.7
