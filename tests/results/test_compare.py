"""Did it get slower?  Two records, and what may be said of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, LaunchRecord, Record
from sitegen.results.compare import (
    Measure,
    Verdict,
    compare_records,
    render_json,
    render_markdown,
    render_text,
    verdict,
)


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
    unknown = with_fused(made, record, replace(made.timed("fused", 2.4), compilation=compiled))

    def reason(one, other):
        return compare_records(made.site, one, other)[1].reason

    assert reason(before, after).endswith(
        "SASS and launch record unchanged: the machine or the libraries moved, not the code"
    )
    assert "not the code" not in reason(before, wider)
    assert "not the code" not in reason(unknown, replace(unknown, evaluations=before.evaluations))
    assert "not the code" not in reason(before, before)  # nothing moved


def test_two_launches_that_nobody_recorded_are_not_the_same_launch(made, record):
    compiled = Compilation("sm_90", 32, 0, 0, "hash")
    before, after = (
        with_fused(made, record, replace(made.timed("fused", us), compilation=compiled)) for us in (2.1, 2.4)
    )
    assert "not the code" not in compare_records(made.site, before, after)[1].reason


def fused_with(made, record, ratio: tuple[float, float, float], times: tuple[float, float, float]) -> Record:
    """`fused` with that ratio to torch, and with that median time and interval, each (value, low, high)."""
    one = made.timed("fused", 2.0)
    ratios = tuple(
        replace(r, value=ratio[0], low=ratio[1], high=ratio[2]) if r.baseline == "torch" else r
        for r in one.performance.ratios
    )
    timed = replace(one.performance, ratios=ratios, median_us=times[0], low_us=times[1], high_us=times[2])
    return with_fused(made, record, replace(one, performance=timed))


@pytest.mark.parametrize(
    ("ratio", "us", "reason"),
    [
        (
            (2.2, 2.19, 2.21),
            4.1,
            "torch / t +10.0% and of-ceiling -2.4% beyond the threshold of 1.0%, they moved apart",
        ),
        ((2.2, 2.19, 2.21), 4.0, "torch / t +10.0% beyond the threshold of 1.0%, of-ceiling +0.0% within it"),
        ((2.2, 2.0, 2.4), 3.6, "of-ceiling +11.1% beyond the threshold of 1.0%, 95 % intervals of torch / t overlap"),
    ],
)
def test_an_ambiguous_verdict_says_what_disagrees(made, record, ratio, us, reason):
    before = fused_with(made, record, (2.0, 1.99, 2.01), (4.0, 3.99, 4.01))
    after = fused_with(made, record, ratio, (us, us - 0.01, us + 0.01))
    row = compare_records(made.site, before, after)[1]
    assert row.verdict is Verdict.AMBIGUOUS
    assert reason in row.reason and row.reason.endswith(": measure again")


def test_records_without_a_common_figure_say_so(made, record):
    def bare(e):
        return replace(e, performance=replace(e.performance, ratios=()))

    one = replace(
        record, runs=(replace(made.run, ceilings=()),), evaluations=tuple(bare(e) for e in record.evaluations)
    )
    assert {row.reason for row in compare_records(made.site, one, one)} == {
        "no figure that both records have: measure again"
    }


def test_statuses_that_changed_are_verdicts_of_their_own(made, record):
    failed = replace(made.timed("fused", 2.1), status=Status.RACE, performance=None, message="two runs differ\n…")
    broken = with_fused(made, record, failed)
    without = replace(record, evaluations=made.evaluations[:1])

    def fused(before, after):
        return next(row for row in compare_records(made.site, before, after) if "fused" in row.title)

    def of(before, after):
        row = fused(before, after)
        return row.verdict, row.reason

    assert of(record, broken) == (Verdict.FAILED, "two runs differ")
    assert of(broken, record) == (Verdict.REPAIRED, "race → passed")
    assert of(broken, broken) == (Verdict.UNTIMED, "two runs differ")
    assert of(without, record) == (Verdict.NEW, "only the second record has it")
    assert of(record, without) == (Verdict.GONE, "only the first record has it")


def test_records_of_two_kernels_cannot_be_compared(made, record):
    with pytest.raises(ValueError, match="cannot be compared"):
        compare_records(made.site, record, replace(record, kernel="sum"))


def test_a_report_reads_in_a_terminal_and_in_a_pull_request(made, record):
    rows = compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4)))
    assert "slower    softmax/fused@1000x1000:float32" in render_text(rows)
    assert "torch / t: 1.905 [1.903, 1.907] → 1.667 [1.665, 1.668] (-12.5%)" in render_text(rows)
    why = "torch / t -12.5% and of-ceiling -12.5%: beyond the threshold of 1.0%, 95 % intervals disjoint"
    assert why in render_text(rows) and f" | {why} |" in render_markdown(rows)
    assert "| `softmax/fused@1000x1000:float32` | slower | torch / t: 1.905" in render_markdown(rows)
    assert render_text([]) == "nothing to compare" and render_markdown([]) == "Nothing to compare."


def test_a_reason_with_a_bar_keeps_its_table_cell(made, record):
    failed = replace(made.timed("fused", 2.1), status=Status.INCORRECT, performance=None, message="max |error| 3")
    rows = compare_records(made.site, record, with_fused(made, record, failed))
    assert r"max \|error\| 3 |" in render_markdown(rows)


def test_a_program_reads_verdicts_reasons_and_intervals(made, record):
    same, slower = json.loads(
        render_json(compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4))))
    )
    assert (same["verdict"], slower["verdict"]) == ("same", "slower")
    assert same["reason"] == "torch / t +0.0% and of-ceiling +0.0%: within the threshold of 1.0%"
    assert slower["evaluation"] == "softmax/fused@1000x1000:float32"
    assert slower["measures"][0]["before"]["low"] < slower["measures"][0]["before"]["value"]
    assert slower["measures"][0]["change"] == pytest.approx(-0.125) and slower["measures"][0]["disjoint"]
    assert json.loads(render_json([])) == []
