"""The few SVG elements that charts are made of, as strings: presentation attributes and classes, never a style.

Every text goes through `escape`; coordinates are rounded to a tenth of a pixel, so that a file is the same wherever
it is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

Pair = tuple[float, float]


def at(value: float) -> str:
    """A coordinate: at most one decimal, no `-0`."""
    return f"{round(value, 1) + 0.0:g}"


def tag(name: str, content: str | Markup = "", **attributes: object) -> Markup:
    """`<name a="b">content</name>`.  `class_` is `class`, `aria_label` is `aria-label`; None leaves one out."""
    pairs = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    opened = "".join(f' {key}="{escape(at(v) if isinstance(v, float) else v)}"' for key, v in pairs.items())
    inside = escape(content)
    return Markup(f"<{name}{opened}>{inside}</{name}>") if inside else Markup(f"<{name}{opened}/>")


def join(parts: Iterable[str], between: str = "") -> Markup:
    return Markup(between).join(parts)


def text(content: str, x: float, y: float, class_: str | None = None) -> Markup:
    return tag("text", content, class_=class_, x=float(x), y=float(y))


def path(d: str, class_: str) -> Markup:
    return tag("path", class_=class_, d=d)


def polyline(points: Sequence[Pair]) -> str:
    """The `d` of a line through all points."""
    return "M" + "L".join(f"{at(x)} {at(y)}" for x, y in points) if points else ""


@dataclass(frozen=True, slots=True)
class Log:
    """A logarithmic axis from `low` to `high`; `start` and `end` are pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    @property
    def decades(self) -> tuple[float, ...]:
        """The powers of ten on it."""
        return self._steps((1,))

    @property
    def minor(self) -> tuple[float, ...]:
        return self._steps(range(2, 10))

    @property
    def named(self) -> tuple[float, ...]:
        """The decades; where they are few, some steps between them too."""
        return self.decades if len(self.decades) > 2 else self._steps((1, 2, 5))

    def _steps(self, digits: Iterable[int]) -> tuple[float, ...]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (digit * 10.0**power for power in range(first, last + 1) for digit in digits)
        return tuple(step for step in steps if self.low <= step * (1 + 1e-9) and step <= self.high * (1 + 1e-9))


@dataclass(frozen=True, slots=True)
class Linear:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Four to eight round steps from `low`, the last one not above `high`."""
        raw = (self.high - self.low) / 8
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * n for n in (1, 2, 5, 10) if power * n >= raw)
        return tuple(self.low + i * step for i in range(int((self.high - self.low) / step + 1e-9) + 1))
