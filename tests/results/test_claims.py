"""A claim holds only when the whole interval of its figure does, on every GPU and at every cell that it names."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, Record, Role
from sitegen.read.claims import parse_claim
from sitegen.results.claims import ClaimState, Verdict, decide
from sitegen.results.freshness import Freshness, FreshnessState
from sitegen.results.quantities import FRESH, Measured, Missing
from sitegen.results.records import Records

GPU, OTHER = "nvidia-h200", "nvidia-h100"
STALE = Freshness(FreshnessState.STALE, ("fused.py changed",))


def record(made: SimpleNamespace, *evaluations: object, gpu: str = GPU) -> Record:
    return Record(1, "softmax", gpu, (made.run,), evaluations or made.evaluations)  # type: ignore[arg-type]


def verdict(text: str, made: SimpleNamespace, *records: Record, **given: object) -> Verdict:
    of_kernel = {(one.kernel, one.gpu): one for one in records or (record(made),)}
    known = Measured({"softmax": made.kernel}, Records(of_kernel), lambda *_: FRESH, (GPU,))
    return decide(parse_claim(text), replace(known, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "softmax/fused >= 1.9x torch",
        "softmax/fused x torch between 1.9 and 1.91",
        "softmax/fused <= 2.2 µs",
        "softmax/fused >= 3.8 TB/s",
        "softmax/fused >= 95 % of-copy",
        "softmax/fused faster than naive",
        "softmax/naive slower than fused",
        "softmax/fused fastest",
        "softmax/best fastest implementation",
        "softmax/fused memory-bound",
        "softmax/naive time / softmax/fused time >= 1.42",
    ],
)
def test_a_claim_that_the_record_supports_holds_with_a_margin(made: SimpleNamespace, text: str) -> None:
    found = verdict(text, made)
    assert found.state is ClaimState.HOLDS
    assert all(check.margin is not None and check.margin >= 0 for check in found.checks)


@pytest.mark.parametrize(
    "text",
    [
        "softmax/fused >= 2x torch",
        "softmax/fused <= 2 µs",
        "softmax/fused bandwidth between 4 and 5 TB/s",
        "softmax/naive faster than fused",
        "softmax/naive fastest",
        "softmax/naive fastest implementation",
        "softmax/fused compute-bound",
        "softmax/naive time / softmax/fused time >= 1.5",
    ],
)
def test_a_claim_that_the_record_contradicts_is_broken_with_a_negative_margin(made: SimpleNamespace, text: str) -> None:
    found = verdict(text, made)
    assert found.state is ClaimState.BROKEN
    assert all(check.margin is not None and check.margin < 0 for check in found.checks)


@pytest.mark.parametrize(
    "text",
    [
        "softmax/fused >= 1.9047x torch",
        "softmax/fused <= 2.1 µs",
        "softmax/fused time between 2 and 2.1 µs",
        "softmax/fused of-copy > 95.2 %",
    ],
)
def test_an_interval_that_crosses_the_bound_does_not_support_the_claim(made: SimpleNamespace, text: str) -> None:
    [check] = verdict(text, made).checks
    assert check.state is ClaimState.BROKEN
    assert check.margin == pytest.approx(0, abs=2e-3) and check.margin < 0


def test_facts_of_the_compiler_are_compared_exactly(made: SimpleNamespace) -> None:
    compiled = Compilation("sm_90a", 64, 0, 0, "a" * 64, {"HGMMA": 8})
    known = record(made, made.timed("fused", 2.1, compilation=compiled))
    states = {
        text: verdict(f"softmax/fused {text}", made, known).state
        for text in ("no spills", "regs <= 64", "regs < 64", "uses HGMMA", "uses no LDL", "uses no HGMMA")
    }
    holds = [text for text, state in states.items() if state is ClaimState.HOLDS]
    assert holds == ["no spills", "regs <= 64", "uses HGMMA", "uses no LDL"]


def test_a_stale_record_decides_nothing_and_still_says_what_it_would(made: SimpleNamespace) -> None:
    for text, supported in (("softmax/fused >= 1.5x torch", True), ("softmax/fused >= 2x torch", False)):
        found = verdict(text, made, freshness_of=lambda *_: STALE)
        assert (found.state, found.supported) == (ClaimState.STALE, supported)


def test_a_claim_without_a_record_is_missing(made: SimpleNamespace) -> None:
    for text in ("softmax/fused@8x8 fastest", "softmax/fused no spills", "softmax/fused >= 2x torch on nvidia-h100"):
        assert verdict(text, made).state is ClaimState.MISSING


def test_a_failed_implementation_supports_no_claim(made: SimpleNamespace) -> None:
    failed = made.timed("fused", 2.1, status=Status.INCORRECT, performance=None)
    [check] = verdict("softmax/fused <= 9 ms", made, record(made, failed)).checks
    assert (check.state, check.quantity.missing) == (ClaimState.BROKEN, Missing.FAILED)


def test_nothing_is_the_fastest_alone(made: SimpleNamespace) -> None:
    [check] = verdict("softmax/fused fastest", made, record(made, made.timed("fused", 2.1))).checks
    assert check.quantity.missing is Missing.NOTHING_BESIDE


def test_the_fastest_names_the_one_that_comes_nearest(made: SimpleNamespace) -> None:
    [check] = verdict("softmax/fused fastest", made).checks
    assert check.beside == "naive"
    baseline = record(made, made.timed("fused", 2.1), made.timed("naive", 2.0, role=Role.BASELINE))
    assert verdict("softmax/fused fastest", made, baseline).state is ClaimState.BROKEN


def test_a_claim_about_all_gpus_and_cells_needs_each_of_them(made: SimpleNamespace) -> None:
    slow = record(made, made.timed("fused", 3.9), made.timed("torch", 4.0, Role.BASELINE), gpu=OTHER)
    text = "softmax/fused >= 1.5x torch"
    both = (record(made), slow)
    assert verdict(text, made, *both).state is ClaimState.HOLDS
    on_all = verdict(f"{text} on all", made, *both)
    assert [(check.gpu, check.state) for check in on_all.checks] == [
        (GPU, ClaimState.HOLDS),
        (OTHER, ClaimState.BROKEN),
    ]
    assert on_all.state is ClaimState.BROKEN
    at_all = verdict(f"{text} @ all:all", made)
    assert [check.state for check in at_all.checks] == [ClaimState.HOLDS, *[ClaimState.MISSING] * 3]


def test_cells_that_an_implementation_does_not_take_are_left_out_of_all(made: SimpleNamespace) -> None:
    cells = [check.cell.dtype for check in verdict("softmax/naive <= 9 µs @ all:all", made).checks]
    assert set(cells) == {"float32"}
