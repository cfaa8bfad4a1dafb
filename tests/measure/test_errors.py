"""Errors of a result against its reference, for unusual numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from sitegen.measure import errors as measured  # noqa: E402  (needs torch)
from sitegen.measure.errors import Errors, all_finite, errors_of, largest_error, ulp, worst  # noqa: E402

pytestmark = pytest.mark.torch
NAN, INF = math.nan, math.inf


def of(result, expected, dtype=torch.float32):
    reference = torch.tensor(expected, dtype=torch.float64)
    return errors_of(torch.tensor(result, dtype=dtype), reference, reference)


def test_nan_passes_only_where_the_reference_is_nan():
    assert of([NAN, 1.0], [2.0, 1.0]).wrong_kind == 1
    assert of([2.0, 1.0], [NAN, 1.0]).wrong_kind == 1
    assert of([NAN, 1.0], [NAN, 1.0]).wrong_kind == 0


def test_infinity_passes_only_where_the_reference_has_the_same():
    assert of([INF, 1.0], [-INF, 1.0]).wrong_kind == 1
    assert of([INF, 1.0], [INF, 1.0]).wrong_kind == 0
    assert of([INF, 1.0], [3e38, 1.0]).wrong_kind == 1


def test_one_wrong_row_shows_in_the_row_error_though_not_in_the_whole():
    expected = torch.ones(1000, 8, dtype=torch.float64)
    result = expected.float()
    result[77] *= 1.01
    found = errors_of(result, expected, expected)
    assert found.row == pytest.approx(0.01, rel=1e-3)
    assert found.relative < 4e-4


def test_one_wrong_element_of_many_shows_in_the_largest_error_alone():
    expected = torch.ones(10**6, dtype=torch.float64)
    result = expected.float()
    result[5] += 0.001
    found = errors_of(result, expected, expected)
    assert (found.largest, found.relative < 2e-6) == (pytest.approx(0.001, rel=1e-3), True)


def test_a_row_of_zeros_must_be_zeros():
    assert of([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]]).row == 0.0
    assert of([[1e-30, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]]).row == INF


def test_a_reduction_is_judged_over_the_sum_of_magnitudes():
    expected, scale = (torch.tensor([value], dtype=torch.float64) for value in (0.001, 1000.0))
    assert errors_of(torch.tensor([0.002]), expected, scale).relative == pytest.approx(1e-6)


def test_chunks_change_nothing(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    for shape in ((1000,), (7, 129), (130, 3, 5), ()):
        expected = torch.randn(shape, generator=generator, dtype=torch.float64)
        result = expected.float() + 0.01
        monkeypatch.setattr(measured, "_CHUNK", 1 << 26)
        whole = errors_of(result, expected, expected)
        monkeypatch.setattr(measured, "_CHUNK", 64)
        parts = errors_of(result, expected, expected)
        assert (parts.relative, parts.row, parts.largest) == pytest.approx((whole.relative, whole.row, whole.largest))


NUMBERS = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([NAN, INF, -INF, 0.0, -0.0, 1e-300, 1e200, -1e200, 1.7e308, -1.7e308])
)
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.int32]


@st.composite
def compared(draw):
    """Draw a result, its reference and the base of the error; most of the numbers are finite."""
    rows, columns, dtype = draw(st.integers(1, 4)), draw(st.integers(1, 9)), draw(st.sampled_from(DTYPES))
    numbers = draw(st.sampled_from([st.floats(-1e3, 1e3), NUMBERS]))
    several = st.lists(numbers, min_size=rows * columns, max_size=rows * columns)
    reference, other = (torch.tensor(draw(several), dtype=torch.float64).reshape(rows, columns) for _ in range(2))
    near = draw(st.booleans())
    value = torch.nan_to_num(other, 0.0, 99.0, -99.0).clamp(-99, 99) if dtype is torch.int32 else other
    result = (reference if near and dtype is not torch.int32 else value).to(dtype)
    return result, reference, draw(st.sampled_from([reference, other.abs()]))


def plainly(result, expected, scale) -> tuple[float, float, float, int]:
    """Return the errors number by number, as their definitions say."""
    value = result.double()
    both = torch.isfinite(value) & torch.isfinite(expected)
    alike = both | (value.isnan() & expected.isnan()) | (value == expected)
    difference = torch.where(both, value - expected, 0.0)
    squares = difference.square().sum(1)
    sizes = torch.where(torch.isfinite(scale), scale, 0.0).square().sum(1)
    whole, size = float(squares.sum()), float(sizes.sum())
    relative = 0.0 if whole == 0.0 else math.sqrt(whole / size) if size > 0.0 else INF
    row = float(torch.nan_to_num(squares.sqrt() / sizes.sqrt(), nan=0.0, posinf=INF).max())
    return relative, row, float(difference.abs().max()), int((~alike).sum())


@given(compared())
def test_the_short_way_of_finite_numbers_says_what_the_definitions_say(drawn):
    found, (relative, row, largest, wrong_kind) = errors_of(*drawn), plainly(*drawn)
    assert (found.relative, found.row) == pytest.approx((relative, row), rel=1e-12, nan_ok=True)
    assert (found.largest, found.wrong_kind) == (largest, wrong_kind)


@given(compared())
def test_the_largest_error_alone_is_that_of_all_errors(drawn):
    result, expected, _ = drawn
    assert largest_error(result, expected) == errors_of(*drawn).largest


@given(compared())
def test_whether_all_are_finite_and_the_largest_that_is_are_found_in_one_pass(drawn):
    _, values, _ = drawn
    finite = values[torch.isfinite(values)]
    assert all_finite(values) == (finite.numel() == values.numel())
    size = float(finite.abs().max()) if finite.numel() else 0.0
    assert measured.largest_finite(values) == size


def test_the_largest_of_no_elements_is_0():
    assert measured.largest_finite(torch.empty(0, 3)) == 0.0


def test_nothing_at_all_is_finite():
    assert all_finite(torch.empty(0))


def test_integers_have_no_ulp_and_floats_that_of_their_largest_value():
    scale = torch.tensor([3.0, -5.0, INF], dtype=torch.float64)
    assert ulp(torch.int32, scale) == 0.0
    assert ulp(torch.float32, scale) == 4 * 2.0**-23
    assert ulp(torch.bfloat16, scale) == 4 * 2.0**-7


def test_the_excess_of_any_survives_the_merging_of_many():
    merged = worst(Errors(largest=1.0, allowed=0.25), Errors(largest=0.1, allowed=5.0))
    assert worst(merged, Errors()).excess == 0.75


def test_an_element_that_is_wrong_in_every_call_is_one_element():
    again = worst(Errors(wrong_kind=1, inexact=2), Errors(wrong_kind=1, inexact=1))
    assert (again.wrong_kind, again.inexact) == (1, 2)
