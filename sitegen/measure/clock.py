"""The SM clock as the stream saw it, and the power beside it.  Nothing here ever sets a clock or a limit.

Two launches of `probes/clock.cu` store clock64 and globaltimer of every SM; the differences give the
mean clock between them.  Where cuda.core or NVML is missing the figure is None.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import torch

from sitegen.measure.compile import compile_probe

PROBES = Path(__file__).parent / "probes"
_MOST_SMS = 1024


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
        """Cycles over microseconds, the median over the SMs that both launches reached."""
        first, last = self.readings.tolist()
        rates = [
            (clock1 - clock0) * 1000.0 / (time1 - time0)
            for (clock0, time0), (clock1, time1) in zip(first, last, strict=True)
            if time0 and time1 > time0 and clock1 > clock0
        ]
        return median(rates) if rates else None


def sm_clock() -> SmClock | None:
    try:
        return SmClock()
    except Exception:
        return None


class PowerMeter:
    """Watts, sampled by NVML while the GPU works."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.watts = handle, list[float]()

    def sample(self) -> None:
        import pynvml

        self.watts.append(pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1000.0)

    def take(self) -> float | None:
        watts, self.watts = self.watts, []
        return median(watts) if watts else None


class NoPowerMeter:
    """Where NVML is missing."""

    def sample(self) -> None:
        return None

    def take(self) -> float | None:
        return None


def power_meter() -> PowerMeter | NoPowerMeter:
    try:
        meter = PowerMeter(nvml_handle())
        meter.sample()
    except Exception:
        return NoPowerMeter()
    meter.take()
    return meter


def nvml_handle() -> Any:
    """NVML's handle of torch's device 0, found by UUID since CUDA_VISIBLE_DEVICES renumbers devices for CUDA only."""
    import pynvml

    pynvml.nvmlInit()
    uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
    try:
        return pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    except pynvml.NVMLError:
        return pynvml.nvmlDeviceGetHandleByIndex(0)
