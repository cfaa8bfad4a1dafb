"""One call → the kernels that it launches, with their shapes and, for Triton, their compiled code.

The call is captured into a CUDA graph that is never run; the nodes of the graph are the launches of the call.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sitegen.measure.artefacts import Binary
from sitegen.measure.compile import arch_of
from sitegen.measure.occupancy import limits_of, occupancy
from sitegen.model.record import LaunchRecord


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """Launches of one call."""

    launch: LaunchRecord
    """Shape and occupancy of the first kernel, and the number of launches."""
    kernels: tuple[str, ...]
    """Names of the kernels in the machine code, in order of launch, each once."""


def capture(call: Callable[[], Any]) -> CapturedCall | None:
    """Return the launches of a call; None where it cannot be captured or launches no kernel."""
    try:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            call()
        return _captured(graph.raw_cuda_graph())
    except Exception:
        return None


def _captured(handle: int) -> CapturedCall | None:
    nodes, kernels = _nodes(handle)
    if not kernels:
        return None
    functions = [_function(_params(node)) for node in kernels]
    names = dict.fromkeys(name for function in functions if (name := _name(function)))
    return CapturedCall(_launch(kernels[0], functions[0], len(nodes)), tuple(names))


def _nodes(handle: int) -> tuple[list[Any], list[Any]]:
    """Return all nodes of a graph, and those that are kernels."""
    from cuda.bindings import driver

    graph = driver.CUgraph(handle)
    count = _checked(driver.cuGraphGetNodes(graph))[-1]
    nodes = list(_checked(driver.cuGraphGetNodes(graph, count))[0])
    kernel = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    return nodes, [node for node in nodes if _checked(driver.cuGraphNodeGetType(node))[0] == kernel]


def _params(node: Any) -> Any:
    from cuda.bindings import driver

    return _checked(driver.cuGraphKernelNodeGetParams(node))[0]


def _launch(node: Any, function: Any, launches: int) -> LaunchRecord:
    params = _params(node)
    block = (params.blockDimX, params.blockDimY, params.blockDimZ)
    return LaunchRecord(
        grid=(params.gridDimX, params.gridDimY, params.gridDimZ),
        block=block,
        cluster=_cluster(node),
        shared_bytes=params.sharedMemBytes,
        launches=launches,
        occupancy=_occupancy(function, math.prod(block), params.sharedMemBytes),
    )


def _occupancy(function: Any, threads: int, dynamic_shared: int) -> float | None:
    """Return the occupancy from the attributes of the function, which a baseline has too; None where they are
    unknown."""
    limits = limits_of(arch_of(torch.cuda.get_device_capability()))
    if limits is None or function is None:
        return None
    try:
        registers, shared = attribute_of(function, "NUM_REGS"), attribute_of(function, "SHARED_SIZE_BYTES")
    except RuntimeError:
        return None
    return occupancy(limits, registers, threads, shared + dynamic_shared)


def attribute_of(function: Any, name: str) -> int:
    """Return an attribute of a CUfunction, such as `NUM_REGS` or `SHARED_SIZE_BYTES` (static, without the driver's
    part).

    Raises RuntimeError.
    """
    from cuda.bindings import driver

    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    return int(_checked(driver.cuFuncGetAttribute(attribute, function))[0])


def _function(params: Any) -> Any:
    """Return the CUfunction of a kernel node, which may hold a CUkernel instead; None when neither is known."""
    from cuda.bindings import driver

    if int(params.func):
        return params.func
    error, function = driver.cuKernelGetFunction(params.kern)
    return function if int(error) == 0 else None


def _name(function: Any) -> str:
    from cuda.bindings import driver

    if function is None:
        return ""
    error, name = driver.cuFuncGetName(function)
    return name.decode() if int(error) == 0 else ""


def _cluster(node: Any) -> tuple[int, ...]:
    from cuda.bindings import driver

    attribute = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    try:
        size = _checked(driver.cuGraphKernelNodeGetAttribute(node, attribute))[0].clusterDim
    except Exception:
        return (1, 1, 1)
    return (max(1, size.x), max(1, size.y), max(1, size.z))


def _checked(result: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of a driver call.  Raises RuntimeError unless it succeeded."""
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(str(error))
    return tuple(values)


class TritonWatch:
    """Records every kernel that Triton loads, and the kernels that a call launches."""

    def __init__(self) -> None:
        from triton import knobs

        self.loaded: dict[Any, tuple[str, dict[str, str]]] = {}
        self.launched: list[Any] = []
        self.hooks = knobs.runtime
        self.hooks.kernel_load_end_hook.add(self._on_load)

    def start(self) -> None:
        """Record launches from now on."""
        self.launched = []
        self.hooks.launch_enter_hook.add(self._on_launch)

    def stop(self) -> None:
        """Record no more launches."""
        self.hooks.launch_enter_hook.remove(self._on_launch)

    def _on_load(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], digest: str) -> None:
        self.loaded[function] = (name, metadata_group)

    def _on_launch(self, metadata: Any) -> None:
        self.launched.append(metadata.get()["function"])

    def binaries(self) -> list[Binary]:
        """Return the machine code of the recorded launches, each kernel once."""
        kernels = [self.loaded[function] for function in dict.fromkeys(self.launched) if function in self.loaded]
        return [_binary(name, files) for name, files in kernels]


def _binary(name: str, files: dict[str, str]) -> Binary:
    by_suffix = {Path(file).suffix: Path(file) for file in files.values()}
    ptx = by_suffix[".ptx"].read_bytes() if ".ptx" in by_suffix else b""
    shared = json.loads(by_suffix[".json"].read_text()).get("shared", 0) if ".json" in by_suffix else 0
    return Binary(by_suffix[".cubin"].read_bytes(), (name,), ptx, dynamic_shared=shared)
