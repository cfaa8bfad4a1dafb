"""The GPU while it works → its mean SM clock, its power and why its clock was held down.

NVML answers with old values: on an H200 the power of an instant is renewed every 100 ms, and a reason for a lower clock
stays for up to half a second after its cause.  Power and reasons are therefore read only after the GPU has done nothing
but the calls of this turn for SETTLED_S, and a reason counts only when the clock of the same calls was low.

Two launches of `probes/clock.cu` store clock64 and globaltimer of every SM; the differences give the mean clock between
them.  Where cuda.core or NVML is missing the figure is None.  Nothing here sets a clock or a limit.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from sitegen.measure.compile import compile_probe

PROBE_FOLDER = Path(__file__).parent / "probes"
THROTTLE = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal",
    0x40: "thermal",
    0x80: "power brake",
}
"""NVML's clocks-event reasons in words, by bit; 0x08 comes with 0x40 or 0x80.  Idleness (0x01) and the settings of
application clocks (0x02) and display clocks (0x100) are left out, because they do not hold the clock down."""
_MOST_SMS = 1024
_SAMPLE_EVERY_S = 0.02
SETTLED_S = 0.2
"""Seconds of the same calls after which NVML's power is theirs: twice the time between two values."""
HELD_DOWN = 0.99
"""Share of the GPU's highest SM clock below which a clock was held down."""


class SmClock:
    """Reads the mean SM clock between `start()` and `stop()`, which are queued in the stream."""

    def __init__(self) -> None:
        from cuda.core import LaunchConfig

        self.kernel = compile_probe(PROBE_FOLDER / "clock.cu", ()).get_kernel("sm_clock")
        count = torch.cuda.get_device_properties(0).multi_processor_count
        self.config = LaunchConfig(grid=(8 * count,), block=(32,))
        self.readings = torch.zeros(2, _MOST_SMS, 2, dtype=torch.int64, device="cuda")

    def start(self) -> None:
        """Queue the first reading."""
        self.readings.zero_()
        self._launch(0)

    def stop(self) -> None:
        """Queue the second reading."""
        self._launch(1)

    def _launch(self, which: int) -> None:
        from cuda.core import Stream, launch

        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        launch(stream, self.config, self.kernel, self.readings[which].data_ptr())

    def mhz(self) -> float | None:
        """Return cycles per microsecond over all SMs that both launches reached; call it when the stream is idle.

        The timer has coarse ticks.  The SMs read it at different moments, so their sum is more precise than one SM.
        """
        first, last = self.readings.tolist()
        both = [
            (clock1 - clock0, time1 - time0)
            for (clock0, time0), (clock1, time1) in zip(first, last, strict=True)
            if time0 and time1 > time0 and clock1 > clock0
        ]
        return sum(c for c, _ in both) * 1000.0 / sum(ns for _, ns in both) if both else None


def sm_clock() -> SmClock | None:
    """Return a reader of the SM clock; None where cuda.core is missing or does not work."""
    try:
        return SmClock()
    except Exception:
        return None


@dataclass(frozen=True, slots=True)
class PowerReading:
    """Median power and the reasons of a lower clock; empty for calls that were too short for NVML."""

    power_w: float | None = None
    throttle: tuple[str, ...] = ()


class PowerMeter:
    """Samples power and clocks-event reasons by NVML while the GPU does the calls of one turn."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.watts, self.reasons, self.next_at = handle, list[float](), 0, math.inf
        self.highest_mhz = _highest_mhz(handle)

    def start(self) -> None:
        """Note that from now on the GPU does nothing but calls of this turn."""
        self.next_at = time.monotonic() + SETTLED_S

    def sample(self) -> None:
        """Take a sample now."""
        self.next_at = time.monotonic() + _SAMPLE_EVERY_S
        with contextlib.suppress(Exception):  # some GPUs do not answer, and no GPU answers always
            self.watts.append(_watts(self.handle))
            self.reasons |= _reasons(self.handle)

    def poll(self) -> None:
        """Take a sample, unless the calls began less than SETTLED_S ago or the last sample is not 20 ms old."""
        if time.monotonic() >= self.next_at:
            self.sample()

    def take(self, clock_mhz: float | None = None) -> PowerReading:
        """Return the samples since the last call, reduced; `clock_mhz` is the SM clock of the same calls."""
        watts, reasons, self.watts, self.reasons, self.next_at = self.watts, self.reasons, [], 0, math.inf
        held = clock_mhz is None or clock_mhz < HELD_DOWN * self.highest_mhz
        return PowerReading(median(watts) if watts else None, throttle_words(reasons) if held else ())

    def expect_settled(self) -> None:
        """Note that the GPU has done nothing but calls of this turn for long enough already."""
        self.next_at = time.monotonic()


class NoPowerMeter:
    """Stands in where NVML is missing: its readings are empty."""

    def start(self) -> None:
        """Do nothing."""

    def expect_settled(self) -> None:
        """Do nothing."""

    def poll(self) -> None:
        """Do nothing."""

    def take(self, clock_mhz: float | None = None) -> PowerReading:
        """Return an empty reading."""
        return PowerReading()


class LatePowerMeter:
    """A power meter that opens NVML with the first calls that are long enough for it, or when it is told to.

    Opening NVML takes every process of a job some time, in which the driver serves no other process of the host, and
    most turns are too short for a reading.  The calls during which it is opened have been queued; their power is read
    if they still run afterwards.
    """

    def __init__(self) -> None:
        self._meter: PowerMeter | NoPowerMeter | None = None
        self._opens_at = math.inf

    def open(self) -> PowerMeter | NoPowerMeter:
        """Open NVML now, for turns during which the GPU must not wait for this process, and return the meter."""
        self._meter = self._meter or power_meter()
        return self._meter

    def start(self) -> None:
        """Note that from now on the GPU does nothing but calls of this turn."""
        if self._meter:
            self._meter.start()
        else:
            self._opens_at = time.monotonic() + SETTLED_S

    def poll(self) -> None:
        """Do as PowerMeter does, or open NVML once the calls have taken SETTLED_S."""
        if self._meter:
            self._meter.poll()
        elif time.monotonic() >= self._opens_at:
            self.open().expect_settled()

    def take(self, clock_mhz: float | None = None) -> PowerReading:
        """Return the samples since the last call, reduced; `clock_mhz` is the SM clock of the same calls."""
        self._opens_at = math.inf
        return self._meter.take(clock_mhz) if self._meter else PowerReading()


def throttle_words(reasons: int) -> tuple[str, ...]:
    """Return in words why the clock was held down, from NVML's bits; empty when it was not."""
    return tuple(dict.fromkeys(word for bit, word in THROTTLE.items() if reasons & bit))


def power_meter() -> PowerMeter | NoPowerMeter:
    """Return a power meter of torch's device 0; one without readings where NVML does not work."""
    try:
        meter = PowerMeter(nvml_handle())
        meter.sample()
    except Exception:
        return NoPowerMeter()
    meter.take()
    return meter


def _highest_mhz(handle: Any) -> float:
    """Return the highest SM clock of the GPU; infinity, below which every clock was held down, where NVML has none."""
    import pynvml

    with contextlib.suppress(Exception):
        return float(pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM))
    return math.inf


def _watts(handle: Any) -> float:
    """Return the power at this instant where the GPU tells it; otherwise NVML's mean, since Ampere of the last
    second."""
    import pynvml

    with contextlib.suppress(Exception):
        (field,) = pynvml.nvmlDeviceGetFieldValues(handle, [pynvml.NVML_FI_DEV_POWER_INSTANT])
        if field.nvmlReturn == pynvml.NVML_SUCCESS and field.value.uiVal:
            return float(field.value.uiVal) / 1000.0
    return float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000.0


def _reasons(handle: Any) -> int:
    """Return the clocks-event reasons as bits; older drivers and bindings have only the older name of the function."""
    import pynvml

    with contextlib.suppress(Exception):
        return int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    return int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))


def nvml_handle() -> Any:
    """Return NVML's handle of torch's device 0, by UUID because CUDA_VISIBLE_DEVICES renumbers devices for CUDA only.

    Raises NVMLError where there are several devices and none has that UUID: the power of another would be wrong.
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
