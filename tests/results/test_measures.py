"""Figures that are computed when a page is made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.cost import cost_of
from sitegen.model.kernel import Goal, Status
from sitegen.model.record import Ceiling, Record
from sitegen.results.measures import GoalState, figures, goal_results, implausible, limits_of, nearest_mix


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def with_l2(record: Record, l2_bytes: int) -> Record:
    run = record.runs[0]
    return replace(record, runs=(replace(run, environment=replace(run.environment, l2_bytes=l2_bytes)),))


def test_the_cost_of_a_workload_is_its_formulas(made):
    cost = cost_of(made.kernel, made.kernel.workloads[0], "bfloat16", {})
    assert (cost.read_bytes, cost.written_bytes, cost.flops, cost.intensity) == (2e6, 2e6, 5e6, 1.25)


def test_figures_of_a_memory_bound_evaluation(made, record):
    found = figures(made.kernel, record, made.evaluations[1])  # 8 MB in 2.1 us, in 4 us by torch, in 2 us by a copy
    assert found.bytes_per_s == pytest.approx(8e6 / 2.1e-6)
    assert found.of_ceiling == pytest.approx(2.0 / 2.1)  # 8 MB at 4.0 TB/s are 2 us
    assert found.of_copy == pytest.approx(2.0 / 2.1)
    assert found.of_read is None and found.ratios["torch"] == pytest.approx(4.0 / 2.1)


def test_without_ceilings_there_is_a_bandwidth_and_no_share(made, record):
    bare = replace(record, runs=(replace(made.run, ceilings=()),))
    found = figures(made.kernel, bare, made.evaluations[1])
    assert found.of_ceiling is None and found.bytes_per_s > 0


def test_what_failed_has_no_figures(made, record):
    failed = replace(made.evaluations[1], status=Status.INCORRECT, performance=None)
    assert figures(made.kernel, record, failed) is None


def test_arithmetic_limits_when_it_takes_longer_than_the_bytes(made, record):
    heavy = replace(made.kernel, flops="90 * M * N")  # 90 MFLOP at 60 TFLOP/s are 1.5 us, the bytes take 2
    heavier = replace(made.kernel, flops="240 * M * N")  # 4 us
    assert figures(heavy, record, made.evaluations[0]).of_ceiling == pytest.approx(2.0 / 3.0)
    slow = replace(made.timed("naive", 5.0))
    assert figures(heavier, record, slow).of_ceiling == pytest.approx(4.0 / 5.0)


@pytest.mark.parametrize(
    ("share", "name"),
    [(1.0, "memory 1:0"), (0.9, "memory 1:0"), (0.66, "memory 2:1"), (0.5, "memory 1:1"), (0, "memory 0:1")],
)
def test_the_nearest_mix_of_reads_and_writes_counts(share, name):
    ceilings = [Ceiling(f"memory {mix}", 1.0, {}) for mix in ("1:0", "2:1", "1:1", "0:1")] + [Ceiling("fp32", 1.0, {})]
    assert nearest_mix(ceilings, share).name == name
    assert nearest_mix(ceilings[4:], share) is None


def test_an_implementation_faster_than_every_probe_raises_the_ceiling_of_its_run(made, record):
    fast = with_l2(replace(record, evaluations=(made.timed("fused", 1.9), *record.evaluations[2:])), 1_000_000)
    assert figures(made.kernel, fast, fast.evaluations[0]).of_ceiling == pytest.approx(1.0)
    assert figures(made.kernel, fast, fast.evaluations[1]).of_ceiling == pytest.approx(1.9 / 4.0)


def test_a_workload_that_fits_the_cache_raises_no_ceiling(made, record):
    fast = replace(record, evaluations=(made.timed("fused", 1.0),))
    cost = cost_of(made.kernel, made.kernel.workloads[0], "float32", {})
    assert limits_of(made.kernel, fast, fast.runs[0], cost, "float32").bytes_per_s == 4.0e12


def test_a_figure_above_every_ceiling_is_an_error_of_ours(made, record):
    run = with_l2(record, 1_000_000).runs[0]
    limit_us = 8e6 / 4.4e12 * 1e6  # at the highest memory ceiling
    beyond = replace(record, evaluations=(made.timed("fused", limit_us / 1.03),))
    within = replace(record, evaluations=(made.timed("fused", limit_us / 1.01),))
    (sentence,) = implausible(made.kernel, beyond, run)
    assert sentence == "softmax/fused@1000x1000:float32: 4.53 TB/s, above every memory ceiling (4.40 TB/s)"
    assert list(implausible(made.kernel, within, run)) == []
    many = replace(made.kernel, flops="1000 * M * N")
    assert any("above the roof" in sentence for sentence in implausible(many, record, run))


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
