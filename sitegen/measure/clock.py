"""The SM clock as the stream saw it, and power and throttling beside it.  Nothing here ever sets a clock or a limit.

Two launches of `probes/clock.cu` store clock64 and globaltimer of every SM; the differences give the
mean clock between them.  Where cuda.core or NVML is missing the figure is None.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from sitegen.measure.compile import compile_probe

PROBES = Path(__file__).parent / "probes"
THROTTLE = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal",
    0x40: "thermal",
    0x80: "power brake",
}
"""NVML's clocks-event reasons in words; 0x08 comes with 0x40 or 0x80.  Idleness (0x01) and the settings of application
(0x02) and display (0x100) clocks hold nothing down, so they are none."""
_MOST_SMS = 1024
_SAMPLE_EVERY_S = 0.02


class SmClock:
    """`start()` and `stop()` are queued in the stream; `mhz()` is read once it is idle."""

    def __init__(self) -> None:
        from cuda.core import LaunchConfig

        self.kernel = compile_probe(PROBES / "clock.cu", ()).get_kernel("sm_clock")
        count = torch.cuda.get_device_properties(0).multi_processor_count
        self.config = LaunchConfig(grid=(8 * count,), block=(32,))
        self.readings = torch.zeros(2, _MOST_SMS, 2, dtype=torch.int64, device="cuda")

    def start(self) -> None:
        self.readings.zero_()
        self._launch(0)

    def stop(self) -> None:
        self._launch(1)

    def _launch(self, which: int) -> None:
        from cuda.core import Stream, launch

        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        launch(stream, self.config, self.kernel, self.readings[which].data_ptr())

    def mhz(self) -> float | None:
        """Cycles over microseconds, of all SMs that both launches reached: they read the timer, whose ticks are coarse,
        at different moments, so that together they know better than each alone."""
        first, last = self.readings.tolist()
        both = [
            (clock1 - clock0, time1 - time0)
            for (clock0, time0), (clock1, time1) in zip(first, last, strict=True)
            if time0 and time1 > time0 and clock1 > clock0
        ]
        return sum(c for c, _ in both) * 1000.0 / sum(ns for _, ns in both) if both else None


def sm_clock() -> SmClock | None:
    try:
        return SmClock()
    except Exception:
        return None


@dataclass(frozen=True, slots=True)
class Seen:
    """By NVML, while the GPU worked."""

    power_w: float | None = None
    throttle: tuple[str, ...] = ()


class PowerMeter:
    """Watts and clocks-event reasons, sampled by NVML while the GPU works."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.watts, self.reasons, self.next_at = handle, list[float](), 0, 0.0

    def sample(self) -> None:
        """Now."""
        self.next_at = time.monotonic() + _SAMPLE_EVERY_S
        with contextlib.suppress(Exception):  # not every GPU tells, and none tells always
            self.watts.append(_watts(self.handle))
            self.reasons |= _reasons(self.handle)

    def poll(self) -> None:
        """Now, unless a sample was taken just before."""
        if time.monotonic() >= self.next_at:
            self.sample()

    def take(self) -> Seen:
        """What was seen since the last time."""
        watts, reasons, self.watts, self.reasons = self.watts, self.reasons, [], 0
        return Seen(median(watts) if watts else None, throttle_words(reasons))


class NoPowerMeter:
    """Where NVML is missing."""

    def sample(self) -> None:
        return None

    def poll(self) -> None:
        return None

    def take(self) -> Seen:
        return Seen()


def throttle_words(reasons: int) -> tuple[str, ...]:
    """NVML's bits → why the clock was held down; empty when it was not."""
    return tuple(dict.fromkeys(word for bit, word in THROTTLE.items() if reasons & bit))


def power_meter() -> PowerMeter | NoPowerMeter:
    try:
        meter = PowerMeter(nvml_handle())
        meter.sample()
    except Exception:
        return NoPowerMeter()
    meter.take()
    return meter


def _watts(handle: Any) -> float:
    """At this instant where the GPU tells; else what NVML gives, since Ampere the mean of the last second."""
    import pynvml

    with contextlib.suppress(Exception):
        (field,) = pynvml.nvmlDeviceGetFieldValues(handle, [pynvml.NVML_FI_DEV_POWER_INSTANT])
        if field.nvmlReturn == pynvml.NVML_SUCCESS and field.value.uiVal:
            return float(field.value.uiVal) / 1000.0
    return float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000.0


def _reasons(handle: Any) -> int:
    """Bits; older drivers and bindings know the question by its older name."""
    import pynvml

    with contextlib.suppress(Exception):
        return int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    return int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))


def nvml_handle() -> Any:
    """NVML's handle of torch's device 0, found by UUID since CUDA_VISIBLE_DEVICES renumbers devices for CUDA only.

    Raises NVMLError where there are several and none has it: another one's power would be a wrong figure.
    """
    import pynvml

    pynvml.nvmlInit()
    uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
    try:
        return pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    except pynvml.NVMLError:
        if pynvml.nvmlDeviceGetCount() > 1:
            raise
        return pynvml.nvmlDeviceGetHandleByIndex(0)
