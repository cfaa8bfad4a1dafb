"""The GPU and the software of this machine → `Environment`.

A child process reads it, because the parent never touches CUDA.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import Any

from sitegen.model.gpu import gpu_hash
from sitegen.model.record import Environment

_COUNT_DEVICES = """
import ctypes, sys
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
sys.exit(0 if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value else 1)
"""


def gpu_present() -> bool:
    """Return whether the driver finds a device, asked in a short process of its own."""
    return subprocess.run([sys.executable, "-c", _COUNT_DEVICES], capture_output=True, timeout=60).returncode == 0


def read_environment() -> Environment:
    """Return the facts of torch's device 0; those that NVML does not give are empty or zero."""
    import torch
    import triton

    properties = torch.cuda.get_device_properties(0)
    nvml = _nvml_facts()
    return Environment(
        gpu=properties.name,
        arch=f"sm_{properties.major}{properties.minor}",
        sm_count=properties.multi_processor_count,
        l2_bytes=properties.L2_cache_size,
        memory_bytes=properties.total_memory,
        cuda=_nvrtc_version() or str(torch.version.cuda),
        torch=torch.__version__,
        triton=triton.__version__,
        python=platform.python_version(),
        gpu_hash=gpu_hash(str(getattr(properties, "uuid", ""))),
        **nvml,
    )


def _nvml_facts() -> dict[str, Any]:
    facts = {"driver": "", "sm_clock_max_mhz": 0.0, "power_limit_w": 0.0, "ecc": False, "compute_mode": ""}
    try:
        import pynvml

        from sitegen.measure.clock import nvml_handle

        handle = nvml_handle()
    except Exception:
        return facts
    modes = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
    questions = {
        "driver": pynvml.nvmlSystemGetDriverVersion,
        "sm_clock_max_mhz": lambda: float(pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)),
        "power_limit_w": lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000.0,
        "ecc": lambda: bool(pynvml.nvmlDeviceGetEccMode(handle)[0]),
        "compute_mode": lambda: modes.get(pynvml.nvmlDeviceGetComputeMode(handle), ""),
    }
    for name, question in questions.items():
        try:
            facts[name] = question()
        except pynvml.NVMLError:
            continue
    return facts


def _nvrtc_version() -> str:
    try:
        from cuda.bindings import nvrtc

        error, major, minor = nvrtc.nvrtcVersion()
    except Exception:
        return ""
    return f"{major}.{minor}" if int(error) == 0 else ""
