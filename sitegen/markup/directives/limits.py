"""Turn `{bytes-in-flight}` and `{intensity}` into the highest rate that the limits of a GPU allow a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.looks import OF_DRAWN

_QUANTITY = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)[ \u00a0]?([^\d\s.]\S*)")
_RATES = {"GB/s": 1e9, "TB/s": 1e12}
_TIMES = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6}
_OPERATIONS = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15}


def _quantity(units: Mapping[str, float], example: str) -> Callable[[o.Value], float]:
    """Return the reader of a number with a unit, which gives bytes/s, seconds or operations/s."""

    def read(value: o.Value) -> float:
        match = _QUANTITY.fullmatch(o.text(value))
        if match is None or not float(match[1]):
            raise o.Unfit(f"expected a number above 0 with its unit, `{example}`")
        if match[2] not in units:
            raise o.named("unit", match[2], units)
        return float(match[1]) * units[match[2]]

    return read


def _count(value: o.Value) -> int:
    if not isinstance(value, str) or not value.isdecimal() or not 0 < int(value[:12]) < 10**9:
        raise o.Unfit("expected a whole number above 0")
    return int(value)


_BANDWIDTH = o.Setting(_quantity(_RATES, "4.8 TB/s"), "The bandwidth of the memory, such as `4.8 TB/s`.")
OF_FLIGHT = {
    **OF_DRAWN,
    "bandwidth": _BANDWIDTH,
    "latency": o.Setting(_quantity(_TIMES, "650 ns"), "The time from a load to its value, such as `650 ns`."),
    "sms": o.Setting(_count, "The SMs of the GPU."),
    "threads": o.Setting(_count, "The threads on each SM."),
    "bytes": o.Setting(_count, "The bytes that each thread has in flight."),
}
OF_INTENSITY = {
    **OF_DRAWN,
    "bandwidth": _BANDWIDTH,
    "compute": o.Setting(_quantity(_OPERATIONS, "67 TFLOP/s"), "The rate of arithmetic, such as `67 TFLOP/s`."),
    "operations": o.Setting(_count, "The operations of the program, for each element or in all."),
    "bytes": o.Setting(_count, "The bytes that the program moves for these operations."),
}


def _show_flight(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.figure import draw
    from sitegen.markup.drawn.limits import FLIGHT  # late, because few texts have one

    return draw(FLIGHT, OF_FLIGHT, fence, into)


def _show_intensity(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.figure import draw
    from sitegen.markup.drawn.limits import INTENSITY

    return draw(INTENSITY, OF_INTENSITY, fence, into)


DECLARED = (
    Directive(("bytes-in-flight",), "The bandwidth that bytes in flight allow.", OF_FLIGHT, show=_show_flight),
    Directive(("intensity",), "The rate that an arithmetic intensity allows.", OF_INTENSITY, show=_show_intensity),
)
