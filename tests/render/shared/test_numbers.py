import datetime as dt

import pytest

from sitegen.model.figure_table import Unit
from sitegen.render.shared import numbers


@pytest.mark.parametrize(
    ("value", "shown"),
    [(131.94, "131.9 µs"), (7.0, "7.000 µs"), (0.5, "0.5000 µs"), (99999.6, "100,000 µs"), (1234.56, "1235 µs")],
)
def test_a_time_has_four_significant_digits_and_a_no_break_space(value: float, shown: str) -> None:
    assert numbers.microseconds(value) == shown.replace(" ", numbers.NBSP)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(4.066e12, "4.07 TB/s"), (999.96e9, "1.00 TB/s"), (12e9, "12.0 GB/s"), (0.0, "0 B/s"), (3.0, "3.00 B/s")],
)
def test_a_bandwidth_takes_the_unit_that_keeps_it_readable(value: float, shown: str) -> None:
    assert numbers.bandwidth(value).replace(numbers.NBSP, " ") == shown


def test_sizes_count_in_powers_of_ten_as_bandwidths_do() -> None:
    assert numbers.size(536_870_912) == f"537{numbers.NBSP}MB"
    assert numbers.operations(704e12) == f"704{numbers.NBSP}TFLOP/s"


@pytest.mark.parametrize(
    ("value", "bound", "shown"),
    [
        (2.0983, 2.1, "2.098"),  # 2.10 would read as if it were reached
        (2.099999, 2.1, "2.099999"),
        (2.1, 2.1, "2.10"),
        (1.1243, 1.1241, "1.1243"),  # 1.12 and 1.124 would read as if it were missed
        (1.9, 2.1, "1.90"),
        (2.114, 2.1, "2.11"),
    ],
)
def test_a_figure_beside_its_bound_never_reads_as_on_the_other_side(value: float, bound: float, shown: str) -> None:
    assert numbers.fixed(value, numbers.decimals_beside(value, bound, 2)) == shown


def test_the_digits_of_a_number_from_10_000_on_are_in_groups() -> None:
    assert numbers.fixed(9999.4, 0) == "9999"
    assert numbers.fixed(9999.6, 0) == "10,000"
    assert numbers.fixed(-31830.26, 1) == "−31,830.3"


def test_a_negative_that_rounds_to_zero_has_no_sign() -> None:
    assert numbers.fixed(-0.04, 1) == "0.0"
    assert numbers.fixed(-0.4, 1) == "−0.4"


def test_shares_and_ratios() -> None:
    assert numbers.percent(0.9506) == f"95.1{numbers.NBSP}%"
    assert numbers.prediction(0.5) == f"50{numbers.NBSP}%"
    assert numbers.prediction(0.667) == f"66.7{numbers.NBSP}%"
    assert numbers.ratio(2.114) == f"2.11{numbers.NBSP}×"


def test_a_column_takes_its_decimals_from_its_smallest_value() -> None:
    assert numbers.decimals_for([280.0, 68.64], 3, least=1) == 1
    assert numbers.decimals_for([280.0, 7.1], 3) == 2
    assert numbers.decimals_for([0.0, float("inf")], 3, least=1) == 1
    assert numbers.decimals_for([1e-9], 3) == 3


@pytest.mark.parametrize(("value", "shown"), [(1.23e-7, "1.2e-7"), (1e-6, "1e-6"), (0.0, "0"), (8e-3, "8e-3")])
def test_an_error_is_short(value: float, shown: str) -> None:
    assert numbers.error(value) == shown


def test_a_workload_that_an_author_named_keeps_its_name() -> None:
    assert numbers.shape("8192x8192") == f"8192{numbers.NBSP}×{numbers.NBSP}8192"
    assert numbers.shape("prefix-sum") == "prefix-sum"
    assert numbers.shape("max") == "max"


def test_days_are_written_the_same_in_every_locale() -> None:
    day = dt.date(2026, 11, 1)
    assert numbers.day(day) == f"1{numbers.NBSP}November 2026"
    assert numbers.weekday(day) == f"Sunday, 1{numbers.NBSP}November"


def test_an_empty_text_still_takes_a_minute() -> None:
    assert numbers.reading_time(0) == f"1{numbers.NBSP}min"
    assert numbers.reading_time(1000) == f"5{numbers.NBSP}min"
    assert numbers.reading_time(1000, 0, 90) == f"7{numbers.NBSP}min"  # as the three say beside their titles


def test_one_post_is_no_plural() -> None:
    assert numbers.count(1, "post") == f"1{numbers.NBSP}post"
    assert numbers.count(52252, "word") == f"52,252{numbers.NBSP}words"
    assert numbers.count(3, "entry", "entries") == f"3{numbers.NBSP}entries"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("big", "big"), ("8x8", f"8{numbers.NBSP}×{numbers.NBSP}8"), ("axaxa", "axaxa"), ("8x8x8", "8³")],
)
def test_a_cube_is_short_where_there_is_little_room(name: str, shown: str) -> None:
    assert numbers.short_shape(name) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(9999, "9999"), (250788, "250,788"), (-12345.6, "−12,346"), (18.25, "18.2")]
)
def test_a_large_count_has_its_digits_in_groups(value: float, shown: str) -> None:
    assert numbers.figure(value, Unit.COUNT) == shown
