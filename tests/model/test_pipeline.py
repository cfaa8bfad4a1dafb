"""Schedules that can be checked by hand."""

from __future__ import annotations

from sitegen.model.pipeline import PipelineStage, schedule


def test_one_buffer_makes_the_stages_wait_for_each_other() -> None:
    plan = schedule((PipelineStage("copy", 3), PipelineStage("compute", 3, ("copy",))), 4)
    assert plan.starts["copy"] == (0, 6, 12, 18)
    assert (plan.total, plan.alone, plan.overlapped) == (24, 24, 0)


def test_two_buffers_hide_the_shorter_stage() -> None:
    plan = schedule((PipelineStage("copy", 2, buffers=2), PipelineStage("compute", 3, ("copy",))), 4)
    assert plan.starts == {"copy": (0, 2, 5, 8), "compute": (2, 5, 8, 11)}
    assert (plan.total, plan.alone, plan.overlapped) == (14, 20, 6)
    assert plan.busy(plan.stages[1]) == 12 / 14


def test_more_buffers_than_the_rates_need_change_the_start_only() -> None:
    two, many = (
        schedule((PipelineStage("copy", 2, buffers=n), PipelineStage("compute", 3, ("copy",))), 6) for n in (2, 6)
    )
    assert two.total == many.total == 20
    assert two.starts["copy"] != many.starts["copy"] == (0, 2, 4, 6, 8, 10)


def test_a_buffer_is_held_until_all_that_read_it_are_done() -> None:
    stages = (PipelineStage("copy", 1), PipelineStage("fast", 1, ("copy",)), PipelineStage("slow", 5, ("copy",)))
    assert schedule(stages, 2).starts == {"copy": (0, 6), "fast": (1, 7), "slow": (1, 7)}


def test_stages_that_need_nothing_of_each_other_run_side_by_side() -> None:
    plan = schedule((PipelineStage("a", 2), PipelineStage("b", 3)), 2)
    assert (plan.total, plan.overlapped) == (6, 4)
