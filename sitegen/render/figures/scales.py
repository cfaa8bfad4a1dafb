"""Map values to pixels along the axes of charts, and choose the values at which an axis has marks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


def half(pixels: float) -> float:
    """Return a number rounded to half a pixel.  A mark is ten pixels wide, and a page with few different numbers
    compresses better.
    """
    return round(2 * pixels) / 2


@dataclass(frozen=True, slots=True)
class Log:
    """A logarithmic axis from `low` to `high`, between the pixels `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return half(self.start + share * (self.end - self.start))

    @property
    def decades(self) -> tuple[float, ...]:
        """The powers of ten on the axis."""
        return self._steps((1,))

    @property
    def minor(self) -> tuple[float, ...]:
        """The pixels of the steps between the decades; the distances from the beginning of a decade are the same in all
        of them.
        """
        return tuple(self._within_its_decade(step) for step in self._steps(range(2, 10)))

    def _within_its_decade(self, value: float) -> float:
        decade = 10.0 ** math.floor(math.log10(value))
        pixels_a_decade = (self.end - self.start) / math.log10(self.high / self.low)
        return self(decade) + half(pixels_a_decade * math.log10(value / decade))

    @property
    def named(self) -> tuple[float, ...]:
        """The values with a number: the decades and, where there are at most two, also 2 and 5 in each decade."""
        return self.decades if len(self.decades) > 2 else self._steps((1, 2, 5))

    def _steps(self, digits: Iterable[int]) -> tuple[float, ...]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (digit * 10.0**power for power in range(first, last + 1) for digit in digits)
        return tuple(step for step in steps if self.low <= step * (1 + 1e-9) and step <= self.high * (1 + 1e-9))


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear axis from `low` to `high`, between the pixels `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return half(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start))

    @property
    def ticks(self) -> tuple[float, ...]:
        """Four to eight round values from `low` on, none above `high`."""
        raw = (self.high - self.low) / 8
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * n for n in (1, 2, 5, 10) if power * n >= raw)
        return tuple(self.low + i * step for i in range(int((self.high - self.low) / step + 1e-9) + 1))
