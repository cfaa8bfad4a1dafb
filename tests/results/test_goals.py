"""Goals that a record meets, misses or leaves unknown, and what DRAM did in the call that decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.cost import cost_of
from sitegen.model.kernel import Goal
from sitegen.model.record import Counters, Record
from sitegen.results.figures import workload_ceilings
from sitegen.results.goals import GoalState, goal_results


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def goals(made, record, *texts):
    kernel = replace(made.kernel, goals=tuple(Goal("", *text) for text in texts))
    return [(r.state, r.name) for r in goal_results(kernel, record)]


def test_goals_are_met_missed_or_unknown(made, record):
    place = ("1000x1000", "float32")
    assert goals(
        made,
        record,
        ("best", 0.95, "of-copy", *place),
        ("naive", 0.95, "of-copy", *place),
        ("best", 1.9, "x torch", *place),
        ("best", 0.95, "of-ceiling", *place),
        ("best", 0.9, "of-read", *place),
        ("best", 0.9, "of-copy", "8x8", "float32"),
        ("best", 1.9, "x torch.compile", *place),
    ) == [
        (GoalState.MET, "fused"),
        (GoalState.MISSED, "naive"),
        (GoalState.MET, "fused"),
        (GoalState.MET, "fused"),
        (GoalState.UNKNOWN, ""),
        (GoalState.UNKNOWN, ""),
        (GoalState.UNKNOWN, ""),
    ]


def test_a_goal_for_one_gpu_is_no_goal_of_another(made, record):
    goal = ("best", 0.95, "of-copy", "1000x1000", "float32")
    assert goals(made, record, (*goal, "nvidia-other"), goal) == goals(made, record, goal)
    assert goals(made, record, (*goal, record.gpu)) == goals(made, record, goal)
    assert goals(made, None, (*goal, "nvidia-other")) == [(GoalState.UNKNOWN, "")]


def test_an_implementation_that_the_kernel_no_longer_has_meets_no_goal(made, record):
    left = tuple(one for one in made.kernel.implementations if one.name != "fused")
    kernel = replace(
        made.kernel, implementations=left, goals=(Goal("", "best", 0.95, "of-copy", "1000x1000", "float32"),)
    )
    (result,) = goal_results(kernel, record)
    assert (result.state, result.name) == (GoalState.MISSED, "naive")


def test_without_a_record_every_goal_is_unknown(made):
    assert goals(made, None, ("best", 0.95, "of-copy", "1000x1000", "float32")) == [(GoalState.UNKNOWN, "")]


def test_of_several_params_the_worst_counts(made, record):
    kernel = replace(made.kernel, params={"causal": (False, True)})
    both = [replace(made.timed("fused", us), params={"causal": c}) for us, c in ((2.0, False), (3.0, True))]
    place = ("1000x1000", "float32")
    kernel = replace(kernel, goals=(Goal("", "best", 0.9, "of-copy", *place), Goal("", "best", 0.6, "of-copy", *place)))
    found = goal_results(kernel, replace(record, evaluations=tuple(both)))
    assert [r.state for r in found] == [GoalState.MISSED, GoalState.MET]
    assert found[0].value == pytest.approx(2.0 / 3.0)


@pytest.mark.parametrize(
    "unknown",
    [
        {"counters": None},
        {"counters": Counters(8e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.3})},
        {"run": "of a run that the record lost"},
    ],
)
def test_without_counters_that_counted_right_nobody_knows_what_dram_did(made, record, unknown):
    known = {"counters": Counters(8e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})}
    result = deciding(made, record, made.timed("fused", 4.0, **(known | unknown)))
    assert result is None or result.dram is None


def test_a_goal_knows_what_dram_did_in_the_call_that_decides_it(made, record):
    """The formulas ask for 8 MB.  The counters saw 12 MB in 4 µs, which are 3 TB/s."""
    counted = Counters(8e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
    result = deciding(made, record, made.timed("fused", 4.0, counters=counted))
    rate = workload_ceilings(
        made.kernel, record, record.runs[0], cost_of(made.kernel, made.kernel.workloads[0], "float32", {}), "float32"
    ).bytes_per_s
    assert result is not None and result.dram is not None and result.figures is not None
    assert result.dram.reread == pytest.approx(12 / 8)
    assert result.dram.of_ceiling == pytest.approx(3e12 / rate)
    assert result.figures.of_copy == result.value


def deciding(made, record, evaluation):
    """Return the result of a goal of which only this evaluation can decide; None if none can."""
    kernel = replace(made.kernel, goals=(Goal("", "best", 0.9, "of-copy", "1000x1000", "float32"),))
    (result,) = goal_results(kernel, replace(record, evaluations=(evaluation,)))
    return None if result.state is GoalState.UNKNOWN else result
