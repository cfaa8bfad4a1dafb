"""Comparisons of two records, and the claims that they allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Ceiling, Compilation, CycleRate, LaunchRecord, Ratio, Record
from sitegen.results.compare import EvaluationComparison, compare_records
from sitegen.results.noise import AA_NOISE
from sitegen.results.verdicts import Verdict


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
    """All microseconds grew by a fifth, also those of the baseline and of the ceiling: no code became slower."""

    def slower(e):
        timed = e.performance
        times = {name: getattr(timed, name) * 1.2 for name in ("median_us", "low_us", "high_us")}
        by_process = tuple(us * 1.2 for us in timed.by_process_us)
        return replace(e, performance=replace(timed, **times, by_process_us=by_process))

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
    """Return the record with that ratio to torch, median time and interval for `fused`, each as (value, low, high)."""
    one = made.timed("fused", 2.0)
    ratios = tuple(
        replace(r, value=ratio[0], low=ratio[1], high=ratio[2], by_process=ratio[:1] * 2)
        if r.baseline == "torch"
        else r
        for r in one.performance.ratios
    )
    timed = replace(
        one.performance,
        ratios=ratios,
        median_us=times[0],
        low_us=times[1],
        high_us=times[2],
        by_process_us=times[:1] * 2,
    )
    return with_fused(made, record, replace(one, performance=timed))


@pytest.mark.parametrize(
    ("ratio", "us", "reason"),
    [
        (
            (2.2, 2.19, 2.21),
            4.1,
            "torch / t +10.0% and of-ceiling -2.4% beyond the threshold of 1.0%, they moved apart",
        ),
        (
            (2.2, 2.19, 2.21),
            3.97,
            "torch / t +10.0% beyond the threshold of 1.0%, of-ceiling +0.8% within it",
        ),
        ((2.2, 2.0, 2.4), 3.6, "of-ceiling +11.1% beyond the threshold of 1.0%, 95 % intervals of torch / t overlap"),
    ],
)
def test_an_ambiguous_verdict_says_what_disagrees(made, record, ratio, us, reason):
    before = fused_with(made, record, (2.0, 1.99, 2.01), (4.0, 3.99, 4.01))
    after = fused_with(made, record, ratio, (us, us - 0.01, us + 0.01))
    row = compare_records(made.site, before, after)[1]
    assert row.verdict is Verdict.AMBIGUOUS
    assert reason in row.reason and row.reason.endswith(": measure again")


def moved_from(made, record, ratio: float, us: float, **run) -> EvaluationComparison:
    """Return the comparison of `fused` at a ratio of 2 and 4 µs with these values, in a run that differs so."""
    before = fused_with(made, record, (2.0, 1.99, 2.01), (4.0, 3.99, 4.01))
    after = fused_with(made, record, (ratio, ratio - 0.01, ratio + 0.01), (us, us - 0.01, us + 0.01))
    after = replace(after, runs=(replace(made.run, **run),))
    return compare_records(made.site, before, after)[1]


def test_when_only_the_ratio_moved_the_baseline_did_and_its_version_is_named(made, record):
    newer = replace(made.environment, torch="2.12.0", driver="590.1")
    row = moved_from(made, record, 1.8, 4.0, environment=newer)
    assert row.verdict is Verdict.AMBIGUOUS
    assert row.reason.endswith("the baseline torch moved, not this code (driver 580.1 → 590.1, torch 2.11.0 → 2.12.0)")
    assert moved_from(made, record, 1.8, 4.0).reason.endswith("(with the same driver, CUDA, torch and Triton)")


def test_when_only_of_ceiling_moved_the_machine_or_its_ceiling_did(made, record):
    slower = moved_from(made, record, 2.0, 4.2)
    assert slower.verdict is Verdict.AMBIGUOUS
    assert slower.reason.endswith("the machine moved, and the baseline with it")
    faster_copy = tuple(replace(c, rate=c.rate * 1.05) for c in made.run.ceilings)
    higher = moved_from(made, record, 2.0, 4.0, ceilings=faster_copy)
    assert higher.verdict is Verdict.AMBIGUOUS
    assert higher.reason.endswith("the measured ceiling moved (memory 1:1 at 4.00 TB/s → memory 1:1 at 4.20 TB/s)")


def in_cycles(record: Record, value: float) -> Record:
    """Return the evaluations of a matrix kernel, each with that ratio to torch in SM cycles."""
    ratio = Ratio("torch", value, value - 0.001, value + 0.001, (value, value))
    return replace(
        record,
        evaluations=tuple(
            replace(e, performance=replace(e.performance, cycle_ratios=(ratio,))) for e in record.evaluations
        ),
    )


def test_a_matrix_kernel_is_also_compared_in_cycles(made, record):
    before = in_cycles(with_fused(made, record, made.timed("fused", 2.0)), 2.0)
    slower = with_fused(made, record, made.timed("fused", 2.2))
    clock, code = (compare_records(made.site, before, in_cycles(slower, value))[1] for value in (2.0, 1.82))
    assert [m.name for m in code.measures] == ["torch / t", "torch / t in cycles", "of-ceiling"]
    assert (clock.verdict, code.verdict) == (Verdict.AMBIGUOUS, Verdict.SLOWER)
    assert clock.reason.endswith("the clock moved, SM cycles did not")


def test_a_ceiling_that_our_own_code_raised_does_not_move_with_it(made, record):
    """The fastest implementation sets the ceiling of its run, and compared with that it would always be at 100 %."""
    small_cache = replace(made.run, environment=replace(made.environment, l2_bytes=1_000_000))

    def best_of(us: float) -> Record:
        alone = replace(record, evaluations=(made.timed("fused", us), *record.evaluations[2:]))
        return replace(alone, runs=(small_cache,))

    (row,) = compare_records(made.site, best_of(1.5), best_of(1.6))
    assert row.verdict is Verdict.SLOWER


def test_two_models_of_gpu_stand_side_by_side_without_a_verdict(made, record):
    (row, _) = compare_records(made.site, record, replace(record, gpu="nvidia-b200"))
    assert row.verdict is Verdict.AMBIGUOUS and row.measures
    assert row.reason == "no verdict between two models of GPU, nvidia-h200 and nvidia-b200"


def test_times_of_two_ways_of_measuring_have_no_verdict(made, record):
    def with_method(digest: str, us: float) -> Record:
        one = replace(made.timed("fused", us), key_parts={"measure": digest} if digest else {})
        return with_fused(made, record, one)

    row = compare_records(made.site, with_method("03", 2.0), with_method("04", 2.4))[1]
    assert row.verdict is Verdict.AMBIGUOUS and row.measures
    assert row.reason.startswith("no verdict between two ways of measuring")
    for before in ("04", ""):
        row = compare_records(made.site, with_method(before, 2.0), with_method("04", 2.4))[1]
        assert row.verdict is Verdict.SLOWER


def test_a_record_of_one_process_cannot_say_slower(made, record):
    once = made.timed("fused", 2.4)
    ratios = tuple(replace(r, by_process=()) for r in once.performance.ratios)
    once = replace(once, performance=replace(once.performance, ratios=ratios, by_process_us=()))
    row = compare_records(made.site, record, with_fused(made, record, once))[1]
    assert (row.verdict, row.confirmed, row.processes) == (Verdict.AMBIGUOUS, False, (2, 1))
    assert "only one process saw it: run again" in row.reason
    back = compare_records(made.site, with_fused(made, record, once), record)[1]
    assert (back.verdict, back.confirmed, back.processes) == (Verdict.FASTER, True, (1, 2))


def test_the_larger_noise_of_both_records_counts(made, record):
    def loud(e, factor):
        seen = tuple(
            r if r.baseline != "torch" else replace(r, by_process=(r.value, r.value * factor))
            for r in e.performance.ratios
        )
        return replace(e, performance=replace(e.performance, ratios=seen))

    noisy = replace(record, evaluations=tuple(loud(e, 1 + n * 0.03) for n, e in enumerate(record.evaluations)))
    rows = [compare_records(made.site, *two)[1] for two in ((record, record), (record, noisy), (noisy, record))]
    assert rows[0].noise < AA_NOISE < rows[1].noise == rows[2].noise
    assert rows[1].threshold == 4 * rows[1].noise > 0.01 == rows[0].threshold
    assert "× the noise of" in rows[1].reason and "× the noise of" not in rows[0].reason


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


def product(made, record, cycles: float, per_cycle: float | None = 540_000.0) -> Record:
    """A matrix kernel that takes so many cycles at a clock that differs from run to run, beside torch at its own."""
    rate = CycleRate("wgmma", per_cycle, per_cycle, per_cycle, (per_cycle,) * 5, 1700.0) if per_cycle else None
    tensor = Ceiling("fp32", 918e12, {"wgmma": 918e12}, burst=rate)
    one = made.timed("fused", 1300.0)
    timed = replace(one, performance=replace(one.performance, cycles=cycles))
    return replace(record, runs=(replace(made.run, ceilings=(made.ceilings[1], tensor)),), evaluations=(timed,))


def of_ceiling(made, before: Record, after: Record) -> tuple[float, float]:
    kernel = replace(made.kernel, flops="1000000 * M * N")
    (row,) = compare_records(replace(made.site, kernels=(kernel,)), before, after)
    (change,) = (m for m in row.measures if m.name == "of-ceiling")
    return change.before[0], change.after[0]


def test_of_ceiling_of_matrix_kernels_is_compared_product(made, record):
    shares = of_ceiling(made, product(made, record, 2.0e6), product(made, record, 2.2e6))
    assert shares == pytest.approx((1e12 / 540_000 / 2.0e6, 1e12 / 540_000 / 2.2e6))


def test_with_a_record_that_has_times_only_of_ceiling_is_compared_in_time(made, record):
    shares = of_ceiling(made, product(made, record, 2.0e6, None), product(made, record, 2.2e6))
    assert shares == pytest.approx((1e12 / 918e12 / 1300e-6,) * 2)
