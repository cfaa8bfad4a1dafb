"""List the columns of the benchmark table: the title of each, its figure of a row, its decimals, and whether it has a
bar.

The names that an author may write are in `markup/directives/benchmark.py`; each has an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.record import Role
from sitegen.render.inputs.rows import Row
from sitegen.render.shared import numbers


@dataclass(frozen=True, slots=True)
class BenchmarkColumn:
    """A column of the benchmark table."""

    title: str
    figure: Callable[[Row], float | None]
    """Returns the figure of a row with a time; None where the row has no such figure."""
    decimals: Callable[[Sequence[float]], int]
    """Returns the decimals of the column in a group, from the figures of the group other than 0."""
    bar: bool = False
    """True when a bar of the same share follows each cell."""
    sign: str = ""
    """Text before each figure: `±`."""

    def cells(self, rows: Sequence[Row]) -> list[str]:
        """Return the texts of a group's rows with equal decimals; empty where a row has no such figure."""
        figures = [self.figure(row) if row.performance else None for row in rows]
        decimals = self.decimals([figure for figure in figures if figure])
        return ["" if figure is None else f"{self.sign}{numbers.fixed(figure, decimals)}" for figure in figures]


def benchmark_column(name: str) -> BenchmarkColumn:
    """Return the column of a name: an entry of COLUMNS, or `vs: torch`.  Raises ValueError for another name."""
    if name.startswith("vs:"):
        return _ratio_column(name.removeprefix("vs:").strip())
    if name not in COLUMNS:
        raise ValueError(f"the benchmark table has no column `{name}`: add it to COLUMNS in {__name__}")
    return COLUMNS[name]


def _ratio_column(baseline: str) -> BenchmarkColumn:
    return BenchmarkColumn(f"×{numbers.NBSP}{baseline}", lambda row: _ratio(row, baseline), _always(2))


def _ratio(row: Row, baseline: str) -> float | None:
    """Return the ratio of a row to a baseline; None for a probe, because its ratio says nothing about the kernel."""
    if row.role is Role.PROBE:
        return None
    return 1.0 if row.name == baseline else row.ratio(baseline)


def _median_us(row: Row) -> float | None:
    return row.performance.median_us if row.performance else None


def _sustained_us(row: Row) -> float | None:
    return row.performance.sustained.median_us if row.performance and row.performance.sustained else None


def _half_spread_us(row: Row) -> float | None:
    """Return half of the range from p20 to p80."""
    return (row.performance.p80_us - row.performance.p20_us) / 2 if row.performance else None


def _percent_of(limit: str) -> Callable[[Row], float | None]:
    """Return the function that returns the share of a row in percent; `limit` is `of-ceiling`, `of-copy`, `of-read`."""

    def percent(row: Row) -> float | None:
        share = row.share(limit)
        return None if share is None else share * 100

    return percent


def _always(decimals: int) -> Callable[[Sequence[float]], int]:
    return lambda _: decimals


def _digits(significant: int, least: int, most: int = 3) -> Callable[[Sequence[float]], int]:
    """Return the function that leaves the smallest figure its significant digits, within `least` and `most`."""
    return lambda figures: numbers.decimals_for(figures, significant, least, most)


def _of_times(figures: Sequence[float]) -> int:
    """Return decimals that leave the slowest time four significant digits, and the fastest at least two."""
    if not figures:
        return 1
    return max(numbers.decimals_for([max(figures)], 4), numbers.decimals_for([min(figures)], 2))


COLUMNS: Mapping[str, BenchmarkColumn] = {
    "time": BenchmarkColumn(f"time,{numbers.NBSP}µs", _median_us, _of_times),
    "burst": BenchmarkColumn(f"burst,{numbers.NBSP}µs", _median_us, _of_times),
    "sustained": BenchmarkColumn(f"sustained,{numbers.NBSP}µs", _sustained_us, _of_times),
    "spread": BenchmarkColumn("p20–\u2060p80", _half_spread_us, _digits(1, least=1, most=2), sign="±"),
    "bandwidth": BenchmarkColumn("TB/s", lambda row: row.bytes_per_s / 1e12, _digits(3, least=2)),
    "operations": BenchmarkColumn("TFLOP/s", lambda row: row.flops_per_s / 1e12, _digits(3, least=1)),
    "of-ceiling": BenchmarkColumn(f"of ceiling,{numbers.NBSP}%", _percent_of("of-ceiling"), _always(1), bar=True),
    "of-copy": BenchmarkColumn(f"of copy,{numbers.NBSP}%", _percent_of("of-copy"), _always(1), bar=True),
    "of-read": BenchmarkColumn(f"of read,{numbers.NBSP}%", _percent_of("of-read"), _always(1), bar=True),
}
"""Every column but the ratios, by its name; `burst` is the time of a kernel that also has a sustained one."""
