"""How far a result is from its reference, where the numbers are odd."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from sitegen.measure import errors as measured  # noqa: E402  (needs torch)
from sitegen.measure.errors import Errors, errors_of, ulp, worst  # noqa: E402

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


def test_integers_have_no_ulp_and_floats_that_of_their_largest_value():
    scale = torch.tensor([3.0, -5.0, INF], dtype=torch.float64)
    assert ulp(torch.int32, scale) == 0.0
    assert ulp(torch.float32, scale) == 4 * 2.0**-23
    assert ulp(torch.bfloat16, scale) == 4 * 2.0**-7


def test_the_excess_of_any_survives_the_merging_of_many():
    merged = worst(Errors(largest=1.0, allowed=0.25), Errors(largest=0.1, allowed=5.0))
    assert worst(merged, Errors()).excess == 0.75
