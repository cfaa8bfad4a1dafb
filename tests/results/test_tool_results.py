"""The findings of the tools are stored with the evaluations that they belong to."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model.job import CallCounters, JobResult, SanitizerResult
from sitegen.model.kernel import Status
from sitegen.model.record import SCHEMA, Counters, Rejection, Role
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.records import Records
from sitegen.results.tool_results import with_tool_results

COUNTERS = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
CLEAN = {"memcheck": "", "racecheck": "", "initcheck": "", "synccheck": ""}
HAZARD = {**CLEAN, "racecheck": "Potential WAR hazard in naive (naive.cu:7)"}


def counted(name, role=Role.IMPLEMENTATION, dtype="float32", params=None) -> CallCounters:
    return CallCounters(role, name, "1000x1000", dtype, params or {}, COUNTERS)


def tools(made, *, counted=(), sanitized=(), kernel="softmax") -> JobResult:
    return JobResult(SCHEMA, f"{kernel}/tools", "inspect", made.environment, counted=counted, sanitized=sanitized)


def evaluations(results):
    return {(e.role, e.name): e for result in results for e in result.evaluations}


def ours(results, name):
    return evaluations(results)[Role.IMPLEMENTATION, name]


def test_counters_go_to_the_same_role_name_workload_dtype_and_params_only(made):
    counts = (counted("fused"), counted("torch", Role.BASELINE), counted("naive", dtype="bfloat16"))
    found = evaluations(with_tool_results([tools(made, counted=counts), made.result]))
    assert {name for (_, name), e in found.items() if e.counters == COUNTERS} == {"fused", "torch"}
    assert found[Role.IMPLEMENTATION, "fused"].performance is not None


def test_params_tell_calls_apart_in_whatever_order_they_are_written(made):
    both = tuple(replace(made.timed("fused", 2.0), params={"causal": value, "p": 1}) for value in (False, True))
    result = replace(made.result, evaluations=both)
    ((first, second), _) = (
        r.evaluations
        for r in with_tool_results([result, tools(made, counted=(counted("fused", params={"p": 1, "causal": True}),))])
    )
    assert (first.counters, second.counters) == (None, COUNTERS)


def test_the_tools_of_another_kernel_say_nothing_of_this_one(made):
    said = tools(
        made, counted=(counted("fused"),), sanitized=(SanitizerResult("fused", HAZARD, Status.RACE),), kernel="sum"
    )
    assert with_tool_results([made.result, said])[0] == made.result


def test_a_clean_implementation_keeps_its_time_and_says_that_the_tools_looked(made):
    fused = ours(with_tool_results([made.result, tools(made, sanitized=(SanitizerResult("fused", CLEAN),))]), "fused")
    assert (fused.sanitizer, fused.status) == (CLEAN, Status.PASSED)
    assert fused.performance is not None


def test_a_finding_takes_the_time_of_what_had_passed(made):
    found = with_tool_results([made.result, tools(made, sanitized=(SanitizerResult("naive", HAZARD, Status.RACE),))])
    naive = ours(found, "naive")
    assert (naive.status, naive.performance, naive.samples) == (Status.RACE, None, "")
    assert naive.message == "racecheck: Potential WAR hazard in naive (naive.cu:7)"
    assert ours(found, "fused").performance is not None
    assert with_tool_results(found) == found


def test_what_the_gates_had_found_stays_the_reason(made):
    failed = replace(made.timed("naive", 3.0), status=Status.INCORRECT, message="relative error", performance=None)
    before = replace(made.result, evaluations=(failed,))
    said = SanitizerResult("naive", {**CLEAN, "memcheck": "Invalid write"}, Status.OUT_OF_BOUNDS)
    naive = ours(with_tool_results([before, tools(made, sanitized=(said,))]), "naive")
    assert (naive.status, naive.message) == (Status.INCORRECT, "relative error")
    assert naive.sanitizer["memcheck"] == "Invalid write"


def test_what_was_not_run_has_no_findings(made):
    unsupported = replace(made.timed("naive", 3.0), status=Status.UNSUPPORTED, performance=None)
    before = replace(made.result, evaluations=(unsupported,))
    assert (
        with_tool_results([before, tools(made, sanitized=(SanitizerResult("naive", HAZARD, Status.RACE),))])[0]
        == before
    )


def test_a_baseline_with_the_name_of_an_implementation_is_not_blamed(made):
    both = (made.timed("fused", 2.0), replace(made.timed("fused", 2.0), role=Role.BASELINE))
    said = tools(made, sanitized=(SanitizerResult("fused", HAZARD, Status.RACE),))
    found = evaluations(with_tool_results([replace(made.result, evaluations=both), said]))
    assert found[Role.BASELINE, "fused"] == both[1]
    assert found[Role.IMPLEMENTATION, "fused"].status is Status.RACE


def rejections(made, status, *sanitized):
    rejected = replace(made.rejected, rejections=(Rejection("no_max", Status.RACE, status, ""),))
    return with_tool_results([rejected, tools(made, sanitized=sanitized)])[0].rejections


def test_a_wrong_variant_that_the_gates_let_through_is_rejected_by_a_finding(made):
    (found,) = rejections(made, Status.PASSED, SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True))
    assert (found.status, found.message) == (Status.RACE, "racecheck: Potential WAR hazard in naive (naive.cu:7)")


def test_a_wrong_variant_is_not_rejected_by_a_finding_in_an_implementation_of_its_name(made):
    (found,) = rejections(made, Status.PASSED, SanitizerResult("no_max", HAZARD, Status.RACE))
    assert found.status is Status.PASSED


def test_the_gates_verdict_on_a_wrong_variant_comes_first(made):
    (found,) = rejections(made, Status.UNWRITTEN, SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True))
    assert found.status is Status.UNWRITTEN


def test_an_expected_race_whose_wrong_results_were_the_same_in_each_run_is_a_race(made):
    (found,) = rejections(made, Status.INCORRECT, SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True))
    assert found.status is Status.RACE


def test_a_finding_in_one_dtype_fails_the_evaluations_of_that_dtype_only(made):
    in_another = SanitizerResult("fused", HAZARD, Status.RACE, dtype="bfloat16")
    assert ours(with_tool_results([made.result, tools(made, sanitized=(in_another,))]), "fused").status is Status.PASSED
    in_this = SanitizerResult("fused", HAZARD, Status.RACE, dtype="float32")
    assert ours(with_tool_results([made.result, tools(made, sanitized=(in_this,))]), "fused").status is Status.RACE


def test_records_hold_what_the_tools_said(made):
    said = tools(made, counted=(counted("fused"),), sanitized=(SanitizerResult("naive", HAZARD, Status.RACE),))
    header = RunHeader("2026-11-21T06:00:00Z", "abc1234")
    (record,) = accept_results(made.site, Records(), header, [made.measured_ceilings, said, made.result]).records
    stored = {e.name: e for e in record.evaluations}
    assert stored["fused"].counters == COUNTERS and stored["naive"].sanitizer == HAZARD
    assert stored["naive"].status is Status.RACE


def test_a_run_of_which_only_the_tools_came_back_leaves_the_record_alone(made):
    header = RunHeader("2026-11-21T06:00:00Z", "abc1234")
    assert accept_results(made.site, Records(), header, [tools(made, counted=(counted("fused"),))]).records == ()
