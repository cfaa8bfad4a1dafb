"""One call → the kernels that it launches, with their shapes and, for Triton, their compiled code.

The call is captured into a CUDA graph that is never run; the nodes of the graph are the launches of the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sitegen.measure.artefacts import Binary, KernelResources, stable_name
from sitegen.measure.geometry import Geometry
from sitegen.measure.longest_kernel import LaunchedKernel


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """Launches of one call."""

    kernels: tuple[LaunchedKernel, ...]
    """Launches of kernels, in order; at least one."""
    launches: int
    """All launches: those of kernels, and copies, fills and allocations by the driver."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kernels in the machine code, in order of launch, each once."""
        return tuple(dict.fromkeys(one.name for one in self.kernels if one.name))


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
    return CapturedCall(tuple(map(_launched, kernels)), len(nodes)) if kernels else None


def _launched(node: Any) -> LaunchedKernel:
    params = _params(node)
    function = _function(params)
    shape = Geometry(
        grid=(params.gridDimX, params.gridDimY, params.gridDimZ),
        block=(params.blockDimX, params.blockDimY, params.blockDimZ),
        cluster=_cluster(node),
        shared_bytes=params.sharedMemBytes,
    )
    return LaunchedKernel(stable_name(_name(function)), shape, _resources(function))


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


def _resources(function: Any) -> KernelResources | None:
    """Return the resources of a kernel from the attributes of its function; None where these are unknown."""
    if function is None:
        return None
    try:
        used = (attribute_of(function, name) for name in ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES"))
        return KernelResources(*used)
    except RuntimeError:
        return None


def attribute_of(function: Any, name: str) -> int:
    """Return an attribute of a CUfunction, such as `NUM_REGS` or `SHARED_SIZE_BYTES` (static, without the driver's
    part).

    Raises RuntimeError.
    """
    from cuda.bindings import driver

    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    return int(_checked(driver.cuFuncGetAttribute(attribute, function))[0])


def _function(params: Any) -> Any:
    """Return the CUfunction of a kernel node, which may hold a CUkernel instead; None when neither is known.

    `params.func` is a view into `params`, whose memory the next node may get.  The copy stays valid.
    """
    from cuda.bindings import driver

    if int(params.func):
        return driver.CUfunction(int(params.func))
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
        value = _checked(driver.cuGraphKernelNodeGetAttribute(node, attribute))[0]
    except Exception:
        return (1, 1, 1)
    size = value.clusterDim  # a view into `value`, which must stay alive while it is read
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
