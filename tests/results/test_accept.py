"""The results that replace a stored one, and those that leave it."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model.job import CellResult, JobResult, Key
from sitegen.model.kernel import Status
from sitegen.model.record import Output, Role
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.records import Records

THIRD = RunHeader("2026-11-23T06:00:00Z", "0123abc")
FIRST, SECOND = RunHeader("2026-11-21T06:00:00Z", "abc1234"), RunHeader("2026-11-22T06:00:00Z", "def5678")


def stored(site, results, header=FIRST, records=None):
    new = accept_results(site, records or Records(), header, results)
    return Records({(record.kernel, record.gpu): record for record in new.records})


def the_record(records):
    return records.kernels[("softmax", "nvidia-h200")]


def names(record):
    return {(e.name, e.run) for e in record.evaluations}


def failed(made, name, status, **changes):
    return replace(made.timed(name, 1.0), status=status, performance=None, **changes)


def test_a_first_run_is_stored_whole(made):
    record = the_record(stored(made.site, [made.measured_ceilings, made.result, made.rejected]))
    assert record.runs == (made.run,)
    assert {e.name for e in record.evaluations} == {"naive", "fused", "torch", "copy"}
    assert {e.run for e in record.evaluations} | {r.run for r in record.rejections} == {FIRST.id}


def test_what_ran_again_is_replaced_and_the_rest_keeps_its_run(made):
    before = stored(made.site, [made.result, made.rejected])
    again = replace(made.result, evaluations=(made.timed("fused", 1.9),))
    record = the_record(stored(made.site, [again], SECOND, before))
    assert names(record) == {("naive", FIRST.id), ("fused", SECOND.id), ("torch", FIRST.id), ("copy", FIRST.id)}
    assert [run.id for run in record.runs] == [FIRST.id, SECOND.id]


def test_a_prediction_stays_as_it_stood_when_the_implementation_first_passed(made):
    def predicted(share, status=Status.PASSED):
        one = made.timed("fused", 1.9)
        times = one.performance if status is Status.PASSED else None
        words, share = f"one read: {share} %", share / 100
        one = replace(one, status=status, performance=times, predicts=words, predicted_of_ceiling=share)
        return [replace(made.result, evaluations=(one,))]

    def held(records):
        return [e.predicts for e in the_record(records).evaluations if e.name == "fused"]

    failed_first = stored(made.site, predicted(70, Status.INCORRECT))
    passed = stored(made.site, predicted(80), SECOND, failed_first)
    assert held(passed) == ["one read: 80 %"], "what was predicted for code that failed is no prediction of this code"
    assert held(stored(made.site, predicted(95), THIRD, passed)) == ["one read: 80 %"]
    failed_again = stored(made.site, predicted(90, Status.INCORRECT), THIRD, passed)
    mended = the_record(stored(made.site, predicted(95), replace(THIRD, id="2026-11-30T06:00:00Z"), failed_again))
    assert [(e.predicts, e.first_passed) for e in mended.evaluations if e.name == "fused"] == [
        ("one read: 80 %", SECOND.id)
    ]


def test_what_passed_without_a_prediction_gets_none_from_a_later_one(made):
    unpredicted = replace(made.timed("fused", 1.9), predicts="", predicted_of_ceiling=None)
    passed = stored(made.site, [replace(made.result, evaluations=(unpredicted,))])
    late = replace(made.timed("fused", 1.9), predicts="95 %", predicted_of_ceiling=0.95)
    record = the_record(stored(made.site, [replace(made.result, evaluations=(late,))], SECOND, passed))
    assert [e.predicted_of_ceiling for e in record.evaluations if e.name == "fused"] == [None]


def test_a_failure_that_the_code_earned_replaces_the_good_record(made):
    before = stored(made.site, [made.result])
    again = replace(made.result, evaluations=(failed(made, "fused", Status.INCORRECT),))
    record = the_record(stored(made.site, [again], SECOND, before))
    assert [(e.status, e.run) for e in record.evaluations if e.name == "fused"] == [(Status.INCORRECT, SECOND.id)]


def test_what_was_not_run_leaves_the_last_good_record(made):
    before = stored(made.site, [made.result, made.rejected])
    again = replace(made.result, evaluations=(failed(made, "fused", Status.NOT_RUN),))
    not_tried = replace(made.rejected, rejections=(replace(made.rejected.rejections[0], status=Status.NOT_RUN),))
    record = the_record(stored(made.site, [again, not_tried], SECOND, before))
    assert [e.status for e in record.evaluations if e.name == "fused"] == [Status.PASSED]
    assert [r.status for r in record.rejections] == [Status.INCORRECT]
    assert [run.id for run in record.runs] == [FIRST.id]


def test_what_was_not_run_and_was_never_there_is_stored_as_such(made):
    record = the_record(stored(made.site, [replace(made.result, evaluations=(failed(made, "fused", Status.NOT_RUN),))]))
    assert [e.status for e in record.evaluations] == [Status.NOT_RUN]


def test_a_run_to_which_nothing_refers_is_dropped(made):
    before = stored(made.site, [made.result])
    record = the_record(stored(made.site, [made.result], SECOND, before))
    assert [run.id for run in record.runs] == [SECOND.id]


def test_what_the_site_no_longer_has_is_dropped(made):
    before = stored(made.site, [made.result, made.rejected])
    smaller = replace(made.kernel, implementations=made.kernel.implementations[1:], baselines=(), wrong=())
    again = replace(made.result, evaluations=(made.timed("fused", 1.9),))
    record = the_record(stored(replace(made.site, kernels=(smaller,)), [again], SECOND, before))
    assert {e.name for e in record.evaluations} == {"fused", "copy"}
    assert record.rejections == ()
    other_shape = replace(smaller, workloads=smaller.workloads[1:])
    assert the_record(stored(replace(made.site, kernels=(other_shape,)), [again], SECOND, before)).evaluations == ()


def test_evaluations_at_other_params_stand_beside_each_other(made):
    kernel = replace(made.kernel, params={"causal": (False, True)})
    both = tuple(replace(made.timed("fused", 2.0), params={"causal": value}) for value in (False, True))
    record = the_record(stored(replace(made.site, kernels=(kernel,)), [replace(made.result, evaluations=both)]))
    assert [dict(e.params) for e in record.evaluations] == [{"causal": False}, {"causal": True}]


def test_nothing_is_stored_of_a_run_without_a_gpu(made):
    assert accept_results(made.site, Records(), FIRST, [replace(made.result, environment=None)]) is None


def test_a_job_that_lost_its_gpu_on_the_way_stores_nothing_and_is_named(made):
    lost = replace(made.rejected, environment=None)
    broken = JobResult(1, "softmax@8x8:float32", "kernel", error="the worker was lost")
    new = accept_results(made.site, Records(), FIRST, [made.result, lost, broken])
    assert new.records[0].rejections == ()
    assert new.lost == ("softmax/wrong: no GPU was there", "softmax@8x8:float32: the worker was lost")


def test_the_same_results_twice_are_the_same_records(made):
    once = stored(made.site, [made.measured_ceilings, made.result, made.rejected])
    assert stored(made.site, [made.measured_ceilings, made.result, made.rejected], FIRST, once) == once


def test_the_rest_of_an_interrupted_run_keeps_its_ceilings(made):
    part = stored(made.site, [made.measured_ceilings, made.result])
    record = the_record(stored(made.site, [made.rejected], FIRST, part))
    assert record.runs == (made.run,)


def test_cells_are_stored_under_the_environment_of_the_run(made):
    cells = JobResult(
        1,
        "posts/softmax",
        "notebook",
        cells=(
            CellResult("a", "passed", (Output("stream", "1\n"),), Key("k", {"code": "h"}), 0.1),
            CellResult("b", "not_run", (), Key("l")),
        ),
    )
    new = accept_results(made.site, Records(), FIRST, [made.measured_ceilings, cells])
    assert [(slug, cell.label, cell.status, cell.key) for slug, cell in new.cells] == [
        ("softmax", "a", Status.PASSED, "k"),
        ("softmax", "b", Status.NOT_RUN, "l"),
    ]
    assert new.cells[0][1].run.environment == made.environment
    before = Records(cells={("softmax", "b", "nvidia-h200"): new.cells[0][1]})
    assert [c.label for _, c in accept_results(made.site, before, SECOND, [made.measured_ceilings, cells]).cells] == [
        "a"
    ]


def test_baselines_are_told_from_implementations_of_the_same_name(made):
    both = (made.timed("fused", 2.0), replace(made.timed("fused", 2.0), role=Role.BASELINE))
    kernel = replace(made.kernel, baselines=("fused",))
    record = the_record(stored(replace(made.site, kernels=(kernel,)), [replace(made.result, evaluations=both)]))
    assert len(record.evaluations) == 2
