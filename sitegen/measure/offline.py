"""A function that launches Triton kernels → the kernels, compiled for a GPU that is not here.

Triton asks its driver for the properties of the GPU, and launches through it.  The driver here answers for a GPU that
is absent, and records the launches.  torch and Triton stay changed, so a process that uses this module does nothing
else and compiles for one architecture only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from sitegen.measure.artefacts import Binary
from sitegen.measure.geometry import Geometry
from sitegen.measure.launches import TritonWatch
from sitegen.measure.longest_kernel import LaunchedKernel
from sitegen.measure.occupancy import MOST_THREADS, REGISTERS, RESERVED_SHARED, WARP, limits_of, number_of


@dataclass(frozen=True, slots=True)
class Flagship:
    """Properties of the largest GPU of an architecture that a program may ask for."""

    name: str
    sm_count: int
    l2_mb: int
    memory_gb: int


FLAGSHIPS = {
    "80": Flagship("NVIDIA A100", 108, 40, 80),
    "86": Flagship("NVIDIA A40", 84, 6, 48),
    "89": Flagship("NVIDIA L40S", 142, 48, 48),
    "90": Flagship("NVIDIA H200", 132, 60, 141),
    "100": Flagship("NVIDIA B200", 148, 126, 180),
    "120": Flagship("NVIDIA RTX PRO 6000", 188, 128, 96),
}
"""Largest GPU by compute capability.  Source: NVIDIA's architecture whitepapers and datasheets."""


class OfflineDriver:
    """Replaces Triton's own driver for CUDA; the method names are Triton's."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.launches: list[LaunchedKernel] = []
        self.launcher_cls = partial(_Launcher, self.launches)
        self.utils = SimpleNamespace(
            get_device_properties=lambda device: triton_properties(arch), load_binary=self._load_binary
        )
        self._loaded = 0

    def get_current_target(self) -> Any:
        return GPUTarget("cuda", int(number_of(self.arch)), WARP)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        return torch.device("meta")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Return a benchmark in which all calls are equal, so that autotuning takes the first configuration."""
        return lambda call, quantiles, **_: [0.0 for _ in quantiles]

    def _load_binary(self, name: str, cubin: bytes, shared: int, device: Any) -> tuple[Any, ...]:
        """Return module, function, registers, spills and most threads; the function is a number."""
        self._loaded += 1
        return None, self._loaded, 0, 0, MOST_THREADS


class _Launcher:
    """Replaces the C function that Triton compiles for each kernel; records the launch."""

    def __init__(self, launches: list[LaunchedKernel], source: Any, metadata: Any) -> None:
        self.launches, self.metadata = launches, metadata

    def __call__(
        self, x: int, y: int, z: int, stream: int, function: Any, packed: Any, launch: Any, enter: Any, *rest: Any
    ) -> None:
        clusters, metadata = self.metadata.num_ctas, self.metadata
        shape = Geometry((x * clusters, y, z), (metadata.num_warps * WARP, 1, 1), (clusters, 1, 1), metadata.shared)
        self.launches.append(LaunchedKernel(metadata.name, shape))
        if enter is not None:
            enter(launch)


@dataclass(frozen=True, slots=True)
class OfflineGpu:
    """A GPU that is not here."""

    driver: OfflineDriver
    watch: TritonWatch

    def kernels_of(self, call: Callable[[], Any]) -> tuple[list[Binary], list[LaunchedKernel]]:
        """Return the machine code of the kernels that a call would launch, each once, and all launches."""
        call()  # compiles, and lets the autotuner choose a configuration
        self.driver.launches.clear()
        self.watch.start()
        call()
        self.watch.stop()
        return self.watch.binaries(), list(self.driver.launches)


@functools.cache
def use_offline_gpu(arch: str) -> OfflineGpu:
    """Make Triton and torch answer as on the largest GPU of `arch`; call it before an implementation is imported."""
    _answer_for(arch)
    offline = OfflineDriver(arch)
    driver.set_active(offline)
    return OfflineGpu(offline, TritonWatch())


def capability_of(arch: str) -> tuple[int, int]:
    """Return the compute capability of an architecture."""
    number = int(number_of(arch))
    return number // 10, number % 10


def triton_properties(arch: str) -> dict[str, int]:
    """Return the properties by the names that Triton's own driver uses."""
    limits, flagship = limits_of(arch), FLAGSHIPS[number_of(arch)]
    assert limits is not None
    return {
        "max_shared_mem": limits.shared_bytes - RESERVED_SHARED,
        "max_num_regs": REGISTERS,
        "multiprocessor_count": flagship.sm_count,
        "warpSize": WARP,
    }


def torch_properties(arch: str) -> SimpleNamespace:
    """Return the properties by the names of torch.cuda.get_device_properties."""
    limits, flagship = limits_of(arch), FLAGSHIPS[number_of(arch)]
    assert limits is not None
    major, minor = capability_of(arch)
    return SimpleNamespace(
        name=flagship.name,
        major=major,
        minor=minor,
        multi_processor_count=flagship.sm_count,
        total_memory=flagship.memory_gb << 30,
        L2_cache_size=flagship.l2_mb << 20,
        warp_size=WARP,
        regs_per_multiprocessor=REGISTERS,
        max_threads_per_multi_processor=limits.warps * WARP,
        shared_memory_per_multiprocessor=limits.shared_bytes,
        shared_memory_per_block_optin=limits.shared_bytes - RESERVED_SHARED,
    )


def _answer_for(arch: str) -> None:
    """Replace the functions by which an implementation asks torch for properties of the GPU."""
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda device=None: capability_of(arch)
    torch.cuda.get_device_properties = lambda device=None: torch_properties(arch)
    torch.cuda.current_stream = lambda device=None: SimpleNamespace(cuda_stream=0)
