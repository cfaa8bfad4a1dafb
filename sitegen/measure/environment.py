"""The GPU and the software of this machine → `Environment`.

A child process reads it, because the parent never touches CUDA.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import Any

from sitegen.model.gpu import gpu_hash
from sitegen.model.record import Environment

MEMORY_LIMIT = "SITEGEN_GPU_MEMORY_GIB"
"""Name of a variable that makes the GPU look smaller, in GiB, so that jobs of small GPUs can be tried."""
_READ_MEMORY = """
import ctypes, sys
driver, device, size = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_size_t()
codes = driver.cuInit(0), driver.cuDeviceGet(ctypes.byref(device), 0)
codes += (driver.cuDeviceTotalMem_v2(ctypes.byref(size), device),)
print(0 if any(codes) else size.value)
"""


def gpu_memory_bytes() -> int:
    """Return the memory of the first device, asked in a short process of its own, or less where MEMORY_LIMIT says so.

    It is 0 when the driver finds no device.
    """
    asked = subprocess.run([sys.executable, "-c", _READ_MEMORY], capture_output=True, timeout=60)
    return min(int(asked.stdout or 0), memory_limit_bytes() or sys.maxsize)


def memory_limit_bytes() -> int:
    """Return the bytes of MEMORY_LIMIT; 0 where it is not set."""
    return int(float(os.environ.get(MEMORY_LIMIT) or 0) * (1 << 30))


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
