"""The counters and findings of a tools job reach what the record of an earlier run holds, if the sources are equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.job import CallCounters, InspectJob, JobResult, SanitizerResult
from sitegen.model.kernel import Status, Wrong
from sitegen.model.record import SCHEMA, Counters, Record, Role
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.json_text import dump, to_stored
from sitegen.results.keys import sources_of, wrong_key
from sitegen.results.records import Records
from sitegen.results.shape import parse

FIRST, SECOND, THIRD = (RunHeader(f"2026-11-2{day}T06:00:00Z", "abc1234") for day in (1, 2, 3))
COUNTERS = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
CLEAN = {"memcheck": "", "racecheck": "", "initcheck": "", "synccheck": ""}
HAZARD = {**CLEAN, "racecheck": "Potential WAR hazard in fused (fused.py:7)"}
RACE = SanitizerResult("fused", HAZARD, Status.RACE, dtype="float32")


def job(made, kernel=None, files=None) -> InspectJob:
    kernel = kernel or made.kernel
    inspected = (*kernel.implementations, *(w.implementation for w in kernel.wrong if w.fails is Status.RACE))
    return InspectJob(f"{kernel.name}/tools", kernel, sources_of(kernel, inspected, files or made.files), ({},))


def counted(name, role=Role.IMPLEMENTATION, counters=COUNTERS, **changes) -> CallCounters:
    return replace(CallCounters(role, name, "1000x1000", "float32", {}, counters), **changes)


def tools(made, *counts, sanitized=()) -> JobResult:
    return JobResult(SCHEMA, "softmax/tools", "inspect", made.environment, counted=counts, sanitized=sanitized)


def held(made, *results, site=None):
    """Return the records of a first run without tools."""
    new = accept_results(site or made.site, Records(), FIRST, [made.measured_ceilings, *(results or (made.result,))])
    return Records({(one.kernel, one.gpu): one for one in new.records})


def accepted(made, before, result, header=SECOND, sent=None, site=None):
    return accept_results(
        site or made.site,
        before,
        header,
        [made.measured_ceilings, result],
        [sent or job(made, (site or made.site).kernels[0])],
    )


def the_evaluation(new, name):
    return next(e for record in new.records for e in record.evaluations if e.name == name)


def test_counters_reach_the_evaluations_of_an_earlier_run_and_name_their_own(made):
    new = accepted(made, held(made), tools(made, counted("fused"), counted("torch", Role.BASELINE)))
    for name in ("fused", "torch"):
        one = the_evaluation(new, name)
        assert (one.run, one.counters) == (FIRST.id, replace(COUNTERS, run=SECOND.id))
        assert one.performance is not None
    assert the_evaluation(new, "naive").counters is None
    assert [run.id for run in new.records[0].runs] == [FIRST.id, SECOND.id]
    assert new.added == ("softmax/tools: counters and findings went to 2 evaluations of earlier runs",)
    assert new.unused == ()


def test_the_same_file_a_second_time_changes_nothing(made):
    result = tools(made, counted("fused"), sanitized=(SanitizerResult("naive", CLEAN), RACE))
    (once,) = accepted(made, held(made), result).records
    read, mistakes = parse(Record, dump(to_stored(once)), "nvidia-h200.json")
    assert read and not mistakes
    (twice,) = accepted(made, Records({("softmax", "nvidia-h200"): read}), result).records
    assert dump(to_stored(twice)) == dump(to_stored(once))


def test_tools_of_older_sources_change_nothing_and_say_so(made):
    old = {**made.files, "kernels/softmax/fused.py": "import torch\n"}
    new = accepted(made, held(made), tools(made, counted("fused"), sanitized=(RACE,)), sent=job(made, files=old))
    assert new.records == ()
    (sentence,) = new.unused
    assert sentence.startswith("softmax/tools: fused@1000x1000:float32, the finding in fused (made of other sources: ")
    assert "fused.py changed" in sentence


def test_one_older_file_keeps_the_counters_of_its_own_implementation_only(made):
    old = {**made.files, "kernels/softmax/fused.py": "import torch\nfrom kernels.common import rows\n"}
    new = accepted(made, held(made), tools(made, *map(counted, ("fused", "naive"))), sent=job(made, files=old))
    assert the_evaluation(new, "naive").counters is not None
    assert the_evaluation(new, "fused").counters is None
    assert len(new.unused) == 1


def test_a_baseline_of_another_reference_keeps_what_it_has(made):
    old = {**made.files, "kernels/softmax/inputs.py": "normal = 2\n"}
    new = accepted(made, held(made), tools(made, counted("torch", Role.BASELINE)), sent=job(made, files=old))
    assert new.records == ()
    assert new.unused == ("softmax/tools: torch@1000x1000:float32 (made of other sources: inputs.py changed)",)


def test_other_dims_of_a_workload_are_another_call(made):
    first = replace(made.kernel.workloads[0], dims={"M": 1000, "N": 999})
    other = replace(made.kernel, workloads=(first, *made.kernel.workloads[1:]))
    counts = (counted("fused"), counted("torch", Role.BASELINE))
    new = accepted(made, held(made), tools(made, *counts), sent=job(made, other))
    assert new.records == () and "dims changed" in new.unused[0]


def test_a_finding_fails_an_evaluation_of_an_earlier_run_and_takes_its_time(made):
    new = accepted(made, held(made), tools(made, counted("fused"), sanitized=(RACE,)))
    fused = the_evaluation(new, "fused")
    assert (fused.status, fused.performance, fused.samples, fused.counters) == (Status.RACE, None, "", None)
    assert (fused.run, fused.sanitizer, fused.sanitizer_run) == (SECOND.id, HAZARD, "")
    assert fused.first_passed == FIRST.id, "what had been predicted stays as it was"
    assert the_evaluation(new, "naive").performance is not None
    assert any("race now: racecheck: Potential WAR hazard" in line for line in new.added)


def test_tools_that_found_nothing_say_in_which_run_they_looked(made):
    fused = the_evaluation(
        accepted(made, held(made), tools(made, sanitized=(SanitizerResult("fused", CLEAN),))), "fused"
    )
    assert (fused.status, fused.sanitizer, fused.sanitizer_run, fused.run) == (
        Status.PASSED,
        CLEAN,
        SECOND.id,
        FIRST.id,
    )


def test_what_did_not_pass_gets_no_counters(made):
    failed = replace(made.timed("fused", 1.0), status=Status.INCORRECT, performance=None, message="wrong")
    before = held(made, replace(made.result, evaluations=(failed,)))
    new = accepted(made, before, tools(made, counted("fused")))
    assert new.records == ()
    assert new.unused == ("softmax/tools: fused@1000x1000:float32 (its status is incorrect)",)


def racing(made):
    """Return a site whose variant must race, and the record of a run in which the gates let it through."""
    wrong = (Wrong(made.kernel.wrong[0].implementation, Status.RACE),)
    site = replace(made.site, kernels=(replace(made.kernel, wrong=wrong),))
    let_through = replace(made.rejected.rejections[0], expected=Status.RACE, status=Status.PASSED)
    return site, held(made, made.result, replace(made.rejected, rejections=(let_through,)), site=site)


def test_a_variant_of_an_earlier_run_is_rejected_by_a_race(made):
    site, before = racing(made)
    said = SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True)
    (record,) = accepted(made, before, tools(made, sanitized=(said,)), site=site).records
    (rejection,) = record.rejections
    assert (rejection.status, rejection.run) == (Status.RACE, SECOND.id)
    assert [run.id for run in record.runs] == [FIRST.id, SECOND.id]


@pytest.mark.parametrize("change", [{"key": "other"}, {"run": THIRD.id}])
def test_a_variant_of_other_sources_or_of_a_newer_run_keeps_its_verdict(made, change):
    site, before = racing(made)
    record = before.kernels["softmax", "nvidia-h200"]
    other = replace(record, rejections=(replace(record.rejections[0], **change),))
    said = SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True)
    new = accepted(made, Records({("softmax", "nvidia-h200"): other}), tools(made, sanitized=(said,)), site=site)
    assert new.records == () and "the finding in no_max" in new.unused[0]


def test_a_variant_whose_sources_were_not_sent_stays(made):
    """A result may name any variant; the job has the sources of those that race."""
    before = held(made, made.result, made.rejected)
    said = SanitizerResult("no_max", HAZARD, Status.RACE, wrong=True)
    new = accepted(made, before, tools(made, sanitized=(said,)))
    assert new.records == () and len(new.unused) == 1
    assert wrong_key(made.kernel, made.kernel.wrong[0].implementation, job(made).sources).digest


def test_the_record_of_another_model_gets_nothing(made):
    other = replace(made.environment, gpu="NVIDIA H100 80GB HBM3")
    result = replace(tools(made, counted("fused")), environment=other)
    ceilings = replace(made.measured_ceilings, environment=other)
    new = accept_results(made.site, held(made), SECOND, [ceilings, result], [job(made)])
    assert new.records == ()
    assert new.unused == ("softmax/tools: fused@1000x1000:float32 (the record has no such evaluation)",)


def test_counters_of_an_older_run_fill_a_gap_and_replace_none_of_a_newer(made):
    before = held(made)
    filled = accepted(made, before, tools(made, counted("fused")), THIRD)
    records = Records({("softmax", "nvidia-h200"): filled.records[0]})
    late = accepted(made, records, tools(made, counted("fused"), counted("naive")), SECOND)
    assert the_evaluation(late, "fused").counters.run == THIRD.id
    assert the_evaluation(late, "naive").counters.run == SECOND.id
    assert late.unused == ("softmax/tools: fused@1000x1000:float32 (the record has those of a newer run)",)
    assert [run.id for run in late.records[0].runs] == [FIRST.id, SECOND.id, THIRD.id]


def test_the_rest_of_an_interrupted_run_has_counters_of_the_same_run(made):
    new = accepted(made, held(made), tools(made, counted("fused")), FIRST)
    assert the_evaluation(new, "fused").counters == COUNTERS
    assert [run.id for run in new.records[0].runs] == [FIRST.id]


def test_the_run_of_counters_goes_when_an_evaluation_of_other_sources_replaces_them(made):
    new = accepted(made, held(made), tools(made, counted("fused")))
    records = Records({("softmax", "nvidia-h200"): new.records[0]})
    other = replace(made.result, evaluations=tuple(replace(one, key="f" * 64) for one in made.result.evaluations))
    (record,) = accept_results(made.site, records, THIRD, [made.measured_ceilings, other]).records
    assert [run.id for run in record.runs] == [THIRD.id]


def test_a_result_cannot_name_the_run_of_its_counters(made):
    lie = tools(made, counted("fused", counters=replace(COUNTERS, run="2020-01-01T00:00:00Z")))
    new = accept_results(made.site, Records(), FIRST, [made.measured_ceilings, made.result, lie], [job(made)])
    assert the_evaluation(new, "fused").counters == COUNTERS
    assert the_evaluation(accepted(made, held(made), lie), "fused").counters.run == SECOND.id


def test_the_seconds_of_the_tools_are_kept_with_their_counters(made):
    result = replace(tools(made, counted("fused")), seconds={"total": 41.0})
    (record,) = accepted(made, held(made), result).records
    assert record.seconds["softmax/tools"] == 41.0
