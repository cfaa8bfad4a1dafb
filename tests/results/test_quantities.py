"""A figure of a text is that of the record, with its interval and its sources, or says why it is not there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, Counters, LaunchRecord, Record, Role
from sitegen.read.values import parse_value
from sitegen.results.freshness import Freshness, FreshnessState
from sitegen.results.quantities import FRESH, Measured, Missing, Quantity, quantity_of
from sitegen.results.records import Records

GPU, OTHER = "nvidia-h200", "nvidia-h100"
BYTES = 2 * 1000 * 1000 * 4
STALE = Freshness(FreshnessState.STALE, ("fused.py changed",))


def measured(made: SimpleNamespace, *records: Record, **given: object) -> Measured:
    of_kernel = {(one.kernel, one.gpu): one for one in records}
    known = Measured({"softmax": made.kernel}, Records(of_kernel), lambda *_: FRESH, (GPU,), {"h200": GPU})
    return replace(known, **given)  # type: ignore[arg-type]


def record(made: SimpleNamespace, *evaluations: object, gpu: str = GPU) -> Record:
    return Record(1, "softmax", gpu, (made.run,), evaluations or made.evaluations)  # type: ignore[arg-type]


def read(text: str, known: Measured, *, is_predicted: bool = False) -> Quantity:
    return quantity_of(parse_value(text, is_predicted=is_predicted), known)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("softmax/fused time", 2.1),
        ("softmax/fused@1000x1000:float32 bandwidth", BYTES / 2.1e-6),
        ("softmax/fused operations", 5e6 / 2.1e-6),
        ("softmax/fused of-ceiling", BYTES / 4.0e12 * 1e6 / 2.1),
        ("softmax/fused of-copy", 2.0 / 2.1),
        ("softmax/fused x torch", 4.0 / 2.1),
        ("softmax/fused x naive", 3.0 / 2.1),
        ("softmax/fused least-bytes", BYTES),
        ("softmax/fused error", 1e-8),
        ("softmax/torch time", 4.0),
        ("softmax/copy time", 2.0),
        ("softmax/best time", 2.1),
        ("softmax/naive time - softmax/fused time", 0.9),
        ("softmax/naive time / softmax/fused time", 3.0 / 2.1),
        ("ceiling read", 4.4e12),
        ("softmax/fused bandwidth / ceiling copy", BYTES / 2.1e-6 / 4.0e12),
        ("machine sms", 132),
        ("machine power-cap on h200", 700.0),
    ],
)
def test_a_figure_is_that_of_the_record(made: SimpleNamespace, text: str, value: float) -> None:
    found = read(text, measured(made, record(made)))
    assert found.missing is None
    assert found.value == pytest.approx(value)


def test_an_interval_comes_from_the_record_and_turns_round_where_less_time_is_more(made: SimpleNamespace) -> None:
    known = measured(made, record(made))
    time, rate, ratio = (read(f"softmax/fused {name}", known) for name in ("time", "bandwidth", "x torch"))
    assert (time.low, time.high) == pytest.approx((2.1 * 0.999, 2.1 * 1.001))
    assert (rate.low, rate.high) == pytest.approx((BYTES / (2.1e-6 * 1.001), BYTES / (2.1e-6 * 0.999)))
    assert (ratio.low, ratio.high) == pytest.approx((4.0 / 2.1 * 0.999, 4.0 / 2.1 * 1.001))
    difference = read("softmax/naive time - softmax/fused time", known)
    assert (difference.low, difference.high) == pytest.approx((3 * 0.999 - 2.1 * 1.001, 3 * 1.001 - 2.1 * 0.999))


def test_facts_of_the_compiler_the_launch_and_the_counters_are_exact(made: SimpleNamespace) -> None:
    compiled = Compilation("sm_90a", 40, 48, 1024, "a" * 64, {"LDG.128": 4, "LDG.32": 2, "LDGSTS": 1})
    counted = Counters(6e6, 4e6, 140.0, 1e5, calibration={"copy bytes": 1.0})
    launched = LaunchRecord((8, 1, 1), (256, 1, 1), (1, 1, 1), 0, 2, 0.75)
    full = made.timed("fused", 2.1, compilation=compiled, counters=counted, launch=launched)
    known = measured(made, record(made, full))
    names = ("registers", "spills", "shared", "occupancy", "launches", "dram-bytes", "dram-read", "re-read")
    values = [read(f"softmax/fused {name}", known).value for name in names]
    assert values == [40, 48, 1024, 0.75, 2, 10e6, 6e6, 10e6 / BYTES]
    assert [read(f"softmax/fused instructions {name}", known).value for name in ("LDG", "LDG.128", "STG")] == [6, 4, 0]


def test_counted_figures_come_from_the_run_that_counted(made: SimpleNamespace) -> None:
    later = replace(made.run, id="2026-11-22T06:00:00Z", date="2026-11-22")
    counted = Counters(6e6, 4e6, 140.0, 1e5, calibration={"copy bytes": 1.0}, run=later.id)
    timed_before = record(made, made.timed("fused", 2.1, counters=counted))
    known = measured(made, replace(timed_before, runs=(*timed_before.runs, later)))
    names = ("dram-bytes", "re-read", "time")
    origins = [read(f"softmax/fused {name}", known).origins[0] for name in names]
    assert [one.run.id for one in origins] == [later.id, later.id, made.run.id]
    assert [one.run_id for one in origins] == [one.run.id for one in origins]


def test_counters_that_missed_a_known_amount_give_no_figure(made: SimpleNamespace) -> None:
    wrong = Counters(6e6, 4e6, 140.0, 1e5, calibration={"copy bytes": 1.2})
    known = measured(made, record(made, made.timed("fused", 2.1, counters=wrong)))
    assert read("softmax/fused dram-bytes", known).missing is Missing.NOT_MEASURED


def test_a_figure_without_a_record_says_so_and_fails_nothing(made: SimpleNamespace) -> None:
    failed = made.timed("fused", 2.1, status=Status.INCORRECT, performance=None)
    for known, text, why in (
        (measured(made), "softmax/fused time", Missing.NOT_MEASURED),
        (measured(made), "ceiling read", Missing.NOT_MEASURED),
        (measured(made, record(made)), "softmax/fused@8x8 time", Missing.NOT_MEASURED),
        (measured(made, record(made)), "softmax/fused registers", Missing.NOT_MEASURED),
        (measured(made, record(made)), "softmax/naive time / softmax/fused@8x8 time", Missing.NOT_MEASURED),
        (measured(made, record(made, failed)), "softmax/fused time", Missing.FAILED),
        (measured(made, record(made)), "1 / softmax/fused registers", Missing.NOT_MEASURED),
    ):
        found = read(text, known)
        assert (found.missing, found.value) == (why, None), text


def test_a_division_by_zero_is_no_figure(made: SimpleNamespace) -> None:
    compiled = Compilation("sm_90a", 40, 0, 0, "a" * 64)
    known = measured(made, record(made, made.timed("fused", 2.1, compilation=compiled)))
    assert read("softmax/fused spills / softmax/fused spills", known).missing is Missing.NOT_COMPUTABLE


def test_the_first_gpu_of_the_site_that_has_the_figure_gives_it(made: SimpleNamespace) -> None:
    other = record(made, made.timed("fused", 3.3), made.timed("naive", 5.0), gpu=OTHER)
    known = measured(made, record(made, made.timed("fused", 2.1)), other)
    assert read("softmax/fused time", known).value == pytest.approx(2.1)
    assert read("softmax/fused time on nvidia-h100", known).value == pytest.approx(3.3)
    assert read("softmax/naive time", known).origins[0].gpu == OTHER
    assert read("softmax/naive time on h200", known).missing is Missing.NOT_MEASURED
    first = replace(known, gpus=(OTHER, GPU))
    assert read("softmax/fused time", first).value == pytest.approx(3.3)


def test_a_stale_source_makes_a_figure_stale_with_its_reasons(made: SimpleNamespace) -> None:
    def freshness(kernel: object, record: object, evaluation: SimpleNamespace) -> Freshness:
        return STALE if evaluation.name == "fused" else FRESH

    known = measured(made, record(made), freshness_of=freshness)
    assert read("softmax/fused time", known).stale == "fused.py changed"
    assert read("softmax/naive time", known).stale == ""
    assert read("softmax/naive x fused", known).stale == "fused.py changed"
    assert read("softmax/torch time", known).stale == ""
    all_stale = replace(known, freshness_of=lambda k, r, e: STALE if e.role is Role.IMPLEMENTATION else FRESH)
    assert read("softmax/torch time", all_stale).stale == "fused.py changed"


def test_a_prediction_is_the_one_of_the_run_and_else_that_of_the_kernel(made: SimpleNamespace) -> None:
    naive, fused = made.kernel.implementations
    kernel = replace(made.kernel, implementations=(naive, replace(fused, predicted_of_ceiling=0.9)))
    before, after = measured(made), measured(made, record(made, made.timed("fused", 2.1, predicted_of_ceiling=0.8)))
    for known, value in ((before, 0.9), (after, 0.8)):
        found = read("softmax/fused", replace(known, kernels={"softmax": kernel}), is_predicted=True)
        assert found.value == value
    assert read("softmax/naive", before, is_predicted=True).missing is Missing.NOT_PREDICTED
