"""Turn quantities into the text that a page shows; a no-break space joins number and unit.

Digits and units are decided here alone, so that a figure reads the same in a table, a caption and a chart.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from functools import lru_cache

from sitegen.model.figure_table import Unit

NBSP = "\u00a0"
MINUS = "\u2212"
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))
_TIMES = ((1e3, "ms"), (1.0, "µs"))
_OPERATIONS = ((1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1.0, "FLOP/s"))
WORDS_PER_MINUTE = 200


def with_unit(number: str, unit: str) -> str:
    return f"{number}{NBSP}{unit}"


def decimals_for(values: Iterable[float], significant: int, least: int = 0, most: int = 3) -> int:
    """Return the number of decimals that leaves the smallest of `values` its `significant` digits, for a column with
    equal decimals.
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    if not sizes:
        return least
    return min(max(significant - 1 - math.floor(math.log10(min(sizes))), least), most)


def decimals_beside(value: float, bound: float, least: int) -> int:
    """Return the fewest decimals, from `least` on, with which `value` still reads as below `bound` or not below."""
    below = value < bound
    return next((n for n in range(least, 16) if (round(value, n) < bound) == below), 16)


def fixed(value: float, decimals: int) -> str:
    """Return a number with fixed decimals, `1234.5`, `31,830`, and with the typographic minus sign."""
    text = f"{value:.{decimals}f}"
    if not float(text):
        return text.lstrip("-")
    grouped = f"{value:,.{decimals}f}" if abs(float(text)) >= 10_000 else text
    return grouped.replace("-", MINUS)


def significant(value: float, digits: int) -> str:
    """Return a number with that many significant digits, never in exponent form: 131.94 with 4 is `131.9`."""
    return fixed(value, decimals_for([float(f"{value:.{digits}g}")], digits, most=12))


def microseconds(value: float) -> str:
    """Return a time with four significant digits: `131.9 µs`."""
    return with_unit(significant(value, 4), "µs")


def size(count: float) -> str:
    """Return a number of bytes with three significant digits: `537 MB`."""
    return _scaled(count, _BYTES)


def bandwidth(bytes_per_s: float) -> str:
    """Return a bandwidth: `4.07 TB/s`."""
    return f"{_scaled(bytes_per_s, _BYTES)}/s"


def operations(flops_per_s: float) -> str:
    """Return a rate of operations: `704 TFLOP/s`."""
    return _scaled(flops_per_s, _OPERATIONS)


def teraflops(flops_per_s: float) -> str:
    """Return a rate in TFLOP/s, as the vendors print it: `1515 TFLOP/s`, also above a thousand."""
    return with_unit(significant(flops_per_s / 1e12, 3), "TFLOP/s")


def percent(share: float, decimals: int = 1) -> str:
    """Return a share as a percentage: `95.1 %`."""
    return with_unit(fixed(share * 100, decimals), "%")


def prediction(share: float) -> str:
    """Return a predicted share as its author wrote it: `50 %`, `66.7 %`."""
    return with_unit(f"{share * 100:.4g}", "%")


def ratio(value: float, decimals: int = 2) -> str:
    """Return a ratio: `2.11 ×`."""
    return with_unit(fixed(value, decimals), "×")


def intensity(flops_per_byte: float) -> str:
    """Return an intensity in FLOP per byte with three significant digits: `0.625`."""
    return f"{float(f'{flops_per_byte:.3g}'):g}"


def error(value: float) -> str:
    """Return an error: `1.2e-7`, `1e-6`; an exact result is `0`."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    short = mantissa.removesuffix(".0")
    return "0" if value == 0 else f"{short}e{int(exponent)}" if exponent else short


def printed(value: float) -> str:
    """Return a vendor's figure as the vendor prints it: `4.8`, `67`, `989.5`."""
    return f"{value:.4g}"


def clock(mhz: float) -> str:
    """Return a clock rate: `1.98 GHz`."""
    return with_unit(fixed(mhz / 1000, 2), "GHz")


def watts(power: float) -> str:
    """Return a power: `700 W`."""
    return with_unit(fixed(power, 0), "W")


def shape(workload: str) -> str:
    """Return a shape, `8192 × 8192` for `8192x8192`; an author's name for a workload stays as it is."""
    parts = workload.split("x")
    return f"{NBSP}×{NBSP}".join(parts) if all(part.isdigit() for part in parts) else workload


def short_shape(workload: str) -> str:
    """Return a shape for a narrow column: `4096³` for `4096x4096x4096`."""
    parts = workload.split("x")
    return f"{parts[0]}³" if len(parts) == 3 and len(set(parts)) == 1 and parts[0].isdigit() else shape(workload)


@lru_cache(maxsize=4096)
def day(date: dt.date) -> str:
    """Return a day: `21 November 2026`."""
    return f"{date.day}{NBSP}{MONTHS[date.month - 1]} {date.year}"


def weekday(date: dt.date) -> str:
    """Return a day with its weekday: `Saturday, 21 November`."""
    return f"{WEEKDAYS[date.weekday()]}, {date.day}{NBSP}{MONTHS[date.month - 1]}"


def minutes(words: int) -> int:
    """Return the minutes that it takes to read so many words, never less than one."""
    return max(1, round(words / WORDS_PER_MINUTE))


@lru_cache(maxsize=4096)
def reading_time(*words: int) -> str:
    """Return the time to read texts of so many words, `14 min`: the sum of the minutes that stand beside each text."""
    return with_unit(str(sum(map(minutes, words))), "min")


def figure(value: float, unit: Unit, digits: int = 3) -> str:
    """Return a figure of a record with its unit, for a sentence."""
    if unit is Unit.MICROSECONDS:
        return _scaled(value, _TIMES, digits)
    if unit is Unit.SHARE:
        return percent(value, decimals_for([value * 100], digits, most=2))
    if unit is Unit.RATIO:
        return ratio(value, decimals_for([value], digits))
    if unit is Unit.BYTES:
        return with_unit(f"{value:.0f}", "B") if abs(value) < 1000 else _scaled(value, _BYTES, digits)
    if unit is Unit.BYTES_PER_S:
        return f"{_scaled(value, _BYTES, digits)}/s"
    if unit is Unit.FLOPS_PER_S:
        return _scaled(value, _OPERATIONS, digits)
    if unit in (Unit.MEGAHERTZ, Unit.WATTS):
        return clock(value) if unit is Unit.MEGAHERTZ else watts(value)
    if unit is Unit.ERROR:
        return error(value)
    if value != int(value) and abs(value) < 1000:
        return significant(value, digits)
    return fixed(value, 0)


def digits_within(value: float, low: float, high: float) -> int:
    """Return the number of digits of a value that its 95 % interval supports: 2, 3 or 4."""
    half, size = (high - low) / 2, abs(value)
    if not (half > 0 and size > 0 and math.isfinite(half)):
        return 4
    return min(max(math.floor(-math.log10(half / size)) + 1, 2), 4)


def count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: `1 post`, `3 posts`, `52,252 words`."""
    return with_unit(
        f"{number:,}" if number >= 10_000 else str(number), singular if number == 1 else plural or f"{singular}s"
    )


def _scaled(value: float, units: tuple[tuple[float, str], ...], digits: int = 3) -> str:
    scale, unit = next((u for u in units if abs(float(f"{value:.3g}")) >= u[0]), units[-1])
    return with_unit(significant(value / scale, digits), unit)


# The names are not those of the locale, because a page must be the same on every machine.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
