"""A run without tools keeps the counters of an earlier run, if the sources are the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Counters, Role
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.json_text import dump, to_stored
from sitegen.results.records import Records

FIRST, SECOND, THIRD = (RunHeader(f"2026-11-2{day}T06:00:00Z", "abc1234") for day in (1, 2, 3))
COUNTERS = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
CLEAN = {"memcheck": "", "racecheck": ""}


def counted(result, *names, counters=COUNTERS, sanitizer=CLEAN):
    """Return a result in which the tools have looked at these evaluations; without names, at all."""
    ones = (
        replace(one, counters=counters, sanitizer=sanitizer if one.role is Role.IMPLEMENTATION else {})
        if not names or one.name in names
        else one
        for one in result.evaluations
    )
    return replace(result, evaluations=tuple(ones))


def accepted(made, header, result, before=None):
    new = accept_results(made.site, before or Records(), header, [made.measured_ceilings, result])
    return Records({(one.kernel, one.gpu): one for one in new.records})


def by_name(records):
    (record,) = records.kernels.values()
    return {one.name: one for one in record.evaluations}


def rekeyed(made, *names, **changes):
    """Return the result of a later run in which the sources of these implementations are others."""
    ones = (replace(e, key="f" * 64, **changes) if e.name in names else e for e in made.result.evaluations)
    return replace(made.result, evaluations=tuple(ones))


def test_a_later_run_of_other_sources_drops_the_counters(made):
    first = accepted(made, FIRST, counted(made.result))
    found = by_name(accepted(made, SECOND, rekeyed(made, "fused"), first))
    assert (found["fused"].counters, found["fused"].sanitizer, found["fused"].sanitizer_run) == (None, {}, "")
    assert found["naive"].counters == replace(COUNTERS, run=FIRST.id)


def test_a_later_run_without_tools_keeps_the_counters_and_names_the_run_that_counted(made):
    first = accepted(made, FIRST, counted(made.result))
    second = accepted(made, SECOND, made.result, first)
    for name in ("fused", "naive", "torch"):
        one = by_name(second)[name]
        assert (one.run, one.counters) == (SECOND.id, replace(COUNTERS, run=FIRST.id))
    assert by_name(second)["fused"].sanitizer == CLEAN
    assert by_name(second)["fused"].sanitizer_run == FIRST.id
    (record,) = second.kernels.values()
    assert [run.id for run in record.runs] == [FIRST.id, SECOND.id], "the run that counted stays in the record"
    third = by_name(accepted(made, THIRD, made.result, second))
    assert third["fused"].counters == replace(COUNTERS, run=FIRST.id)


def test_new_counters_replace_those_of_an_earlier_run(made):
    newer = replace(COUNTERS, duration_us=4.0)
    first = accepted(made, FIRST, counted(made.result))
    second = by_name(accepted(made, SECOND, counted(made.result, "fused", counters=newer), first))
    assert second["fused"].counters == newer
    assert second["naive"].counters == replace(COUNTERS, run=FIRST.id)


def test_the_same_results_a_second_time_change_nothing(made):
    first = accepted(made, FIRST, counted(made.result))
    once = accepted(made, SECOND, made.result, first)
    twice = accepted(made, SECOND, made.result, once)
    texts = [dump(to_stored(record)) for records in (once, twice) for record in records.kernels.values()]
    assert texts[0] == texts[1]


def test_a_baseline_drops_its_counters_when_every_implementation_beside_it_is_another(made):
    first = accepted(made, FIRST, counted(made.result))
    assert by_name(accepted(made, SECOND, rekeyed(made, "fused", "naive"), first))["torch"].counters is None
    assert by_name(accepted(made, SECOND, rekeyed(made, "fused"), first))["torch"].counters is not None


@pytest.mark.parametrize("status", [Status.INCORRECT, Status.RACE])
def test_what_fails_now_has_no_counters(made, status):
    first = accepted(made, FIRST, counted(made.result))
    ones = (replace(e, status=status, performance=None) if e.name == "fused" else e for e in made.result.evaluations)
    found = by_name(accepted(made, SECOND, replace(made.result, evaluations=tuple(ones)), first))
    assert found["fused"].counters is None


def test_a_finding_of_an_earlier_run_is_not_kept_beside_a_time(made):
    hazard = {**CLEAN, "racecheck": "Potential WAR hazard"}
    first = accepted(made, FIRST, counted(made.result, "fused", sanitizer=hazard))
    assert by_name(accepted(made, SECOND, made.result, first))["fused"].sanitizer == {}
