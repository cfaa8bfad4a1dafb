"""The evaluations for which tools are due: the fastest of a cell, unless ncu has failed, and what nobody watched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import SCHEMA, Counters, Record, Role
from sitegen.results.due_tools import can_count, can_watch, uncounted, unwatched

FIRST, SECOND, THIRD = (f"2026-11-2{day}T06:00:00Z" for day in (1, 2, 3))
COUNTERS = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})


@pytest.fixture
def record(made):
    """Return a function `record(**changes by name)`: fused takes 2 µs, naive 4, torch 3, all at one cell."""

    def made_record(**changes) -> Record:
        timed = [made.timed("fused", 2.0), made.timed("naive", 4.0), made.timed("torch", 3.0, Role.BASELINE)]
        ones = (replace(one, **{"run": FIRST, **changes.get(one.name, {})}) for one in timed)
        return Record(SCHEMA, "softmax", "nvidia-h200", (), tuple(ones))

    return made_record


def names(record):
    return [one.name for one in uncounted(record)]


def test_only_the_fastest_implementation_of_a_cell_is_named(record):
    assert names(record()) == ["fused"]
    assert names(record(fused={"counters": COUNTERS})) == []
    assert names(record(fused={"status": Status.RACE, "performance": None})) == ["naive"]


def test_each_cell_has_a_fastest_implementation_of_its_own(record):
    assert names(record(naive={"dtype": "bfloat16"})) == ["fused", "naive"]
    assert names(record(naive={"params": {"causal": True}})) == ["fused", "naive"]


def test_a_call_that_ncu_could_not_count_is_not_asked_for_again(record):
    assert names(record(torch={"counters": COUNTERS})) == []
    later = replace(COUNTERS, run=THIRD)
    assert names(record(torch={"counters": later}, fused={"run": SECOND})) == []


def test_a_call_that_is_timed_after_the_counting_is_asked_for(record):
    assert names(record(torch={"counters": COUNTERS}, fused={"run": SECOND})) == ["fused"]


def test_counters_of_another_cell_say_nothing_about_this_one(record):
    assert names(record(torch={"counters": COUNTERS, "dtype": "bfloat16"})) == ["fused"]


def test_a_gpu_without_any_counters_cannot_count(record):
    assert not can_count([record()])
    assert can_count([record(), record(torch={"counters": COUNTERS})])


CLEAN = {"memcheck": "", "racecheck": ""}


def test_a_sanitizer_watches_each_implementation_in_each_dtype_and_no_baseline(record):
    def due(**changes):
        return [(one.name, one.dtype) for one in unwatched(record(**changes))]

    assert due() == [("fused", "float32"), ("naive", "float32")]
    assert due(fused={"sanitizer": CLEAN}) == [("naive", "float32")]
    assert due(fused={"sanitizer": CLEAN}, naive={"name": "fused"}) == [], "the same program at another workload"
    both = due(fused={"sanitizer": CLEAN}, naive={"name": "fused", "dtype": "bfloat16"})
    assert both == [("fused", "bfloat16")]
    assert due(fused={"status": Status.RACE, "performance": None}, naive={"sanitizer": CLEAN}) == []


def test_a_gpu_on_which_nothing_was_watched_has_no_sanitizer(record):
    assert not can_watch([record()])
    assert can_watch([record(), record(naive={"sanitizer": CLEAN})])
