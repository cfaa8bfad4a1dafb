"""Did it get slower?  Two records, and what may be said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, LaunchRecord, Record
from sitegen.results.compare import Measure, Verdict, compare_records, render_markdown, render_text, verdict


def figure(before: float, after: float, half: float = 0.001) -> Measure:
    return Measure("m", (before, before - half, before + half), (after, after - half, after + half))


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ([figure(1.0, 1.009), figure(0.9, 0.899)], Verdict.SAME),
        ([figure(1.0, 1.05), figure(0.9, 0.95)], Verdict.FASTER),
        ([figure(1.0, 0.95), figure(0.9, 0.85)], Verdict.SLOWER),
        ([figure(1.0, 0.95), figure(0.9, 0.9)], Verdict.AMBIGUOUS),  # only one moved
        ([figure(1.0, 0.95), figure(0.9, 0.95)], Verdict.AMBIGUOUS),  # they moved apart
        ([figure(1.0, 0.95, half=0.04), figure(0.9, 0.85)], Verdict.AMBIGUOUS),  # intervals overlap
        ([figure(1.0, 1.05)], Verdict.FASTER),
        ([], Verdict.AMBIGUOUS),
    ],
)
def test_a_verdict_needs_all_measures_one_way_disjoint_and_large(measures, expected):
    assert verdict(measures) is expected


def test_a_noisy_workload_needs_a_larger_change():
    moved = [figure(1.0, 0.97)]
    assert verdict(moved, noise=0.001) is Verdict.SLOWER
    assert verdict(moved, noise=0.01) is Verdict.SAME


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def with_fused(made, record, evaluation) -> Record:
    return replace(record, evaluations=(made.evaluations[0], evaluation, *made.evaluations[2:]))


def test_a_record_compared_with_itself_is_the_same_everywhere(made, record):
    rows = compare_records(made.site, record, record)
    assert [(row.title, row.verdict) for row in rows] == [
        ("softmax/naive@1000x1000:float32", Verdict.SAME),
        ("softmax/fused@1000x1000:float32", Verdict.SAME),
    ]
    assert [m.name for m in rows[0].measures] == ["torch / t", "of-ceiling"]


def test_a_machine_on_which_everything_is_slower_is_the_same_code(made, record):
    """Microseconds grew by a fifth, of the baseline and of the ceiling too: nothing got slower."""

    def slower(e):
        timed = e.performance
        times = {name: getattr(timed, name) * 1.2 for name in ("median_us", "low_us", "high_us")}
        return replace(e, performance=replace(timed, **times))

    ceilings = tuple(replace(c, rate=c.rate / 1.2) for c in made.run.ceilings)
    other = replace(
        record,
        runs=(replace(made.run, ceilings=ceilings),),
        evaluations=tuple(slower(e) for e in record.evaluations),
    )
    assert {row.verdict for row in compare_records(made.site, record, other)} == {Verdict.SAME}


def test_a_slower_implementation_is_named_and_the_others_are_not(made, record):
    rows = compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4)))
    assert [row.verdict for row in rows] == [Verdict.SAME, Verdict.SLOWER]


def test_when_machine_code_and_launch_are_unchanged_the_machine_moved(made, record):
    compiled = Compilation("sm_90", 32, 0, 0, "hash")
    launch = LaunchRecord((1000,), (256,), (1,), 0)
    before = with_fused(made, record, replace(made.timed("fused", 2.1), compilation=compiled, launch=launch))
    after = with_fused(made, record, replace(made.timed("fused", 2.4), compilation=compiled, launch=launch))
    wider = with_fused(
        made, record, replace(made.timed("fused", 2.4), compilation=compiled, launch=replace(launch, block=(512,)))
    )
    assert "not the code" in compare_records(made.site, before, after)[1].note
    assert compare_records(made.site, before, wider)[1].note == ""


def test_statuses_that_changed_are_verdicts_of_their_own(made, record):
    failed = replace(made.timed("fused", 2.1), status=Status.RACE, performance=None, message="two runs differ\n…")
    broken = with_fused(made, record, failed)
    without = replace(record, evaluations=made.evaluations[:1])

    def fused(before, after):
        return next(row for row in compare_records(made.site, before, after) if "fused" in row.title)

    assert (fused(record, broken).verdict, fused(record, broken).note) == (Verdict.FAILED, "two runs differ")
    assert (fused(broken, record).verdict, fused(broken, record).note) == (Verdict.REPAIRED, "race → passed")
    assert fused(broken, broken).verdict is Verdict.UNTIMED
    assert fused(without, record).verdict is Verdict.NEW
    assert fused(record, without).verdict is Verdict.GONE


def test_records_of_two_kernels_cannot_be_compared(made, record):
    with pytest.raises(ValueError, match="cannot be compared"):
        compare_records(made.site, record, replace(record, kernel="sum"))


def test_a_report_reads_in_a_terminal_and_in_a_pull_request(made, record):
    rows = compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4)))
    assert "slower    softmax/fused@1000x1000:float32" in render_text(rows)
    assert "torch / t: 1.905 → 1.667 (-12.5%)" in render_text(rows)
    assert "| `softmax/fused@1000x1000:float32` | slower | torch / t 1.905 → 1.667" in render_markdown(rows)
    assert render_text([]) == "nothing to compare" and render_markdown([]) == "Nothing to compare."
