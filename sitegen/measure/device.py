"""Make a process ready to launch kernels: a CUDA stream of its own, and whether the GPU offers an architecture."""

from __future__ import annotations

import torch

from sitegen.measure.compile import arch_of, supports
from sitegen.measure.environment import memory_limit_bytes
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.kernel import Status


def use_own_stream() -> None:
    """Run everything in a new stream: the legacy default stream waits for others and cannot be captured in a graph."""
    torch.cuda.init()
    torch.cuda.set_stream(torch.cuda.Stream())
    try:
        from cuda.core import Device
    except ImportError:
        return
    Device(0).set_current()


def limit_memory() -> None:
    """Let torch allocate no more than a GPU of the size of MEMORY_LIMIT has; do nothing where it is not set."""
    if limit := memory_limit_bytes():
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total))


def require_arch(required: str) -> None:
    """Raise EvaluationEnded(unsupported) unless the GPU is at least `>=sm_90`; accept everything without a GPU."""
    if not torch.cuda.is_available():
        return
    arch = arch_of(torch.cuda.get_device_capability())
    if not supports(arch, required):
        raise EvaluationEnded(Status.UNSUPPORTED, f"needs {required}, this GPU is {arch}")
