"""What one call puts on the GPU: the kernels it launches with their shapes, and Triton's compiled code.

The call is captured into a CUDA graph that is never run; its nodes are the launches, whoever made them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from sitegen.measure.artefacts import Binary
from sitegen.model.record import LaunchRecord


def record_launch(call: Callable[[], Any]) -> LaunchRecord | None:
    """Shapes of the first kernel, and how many launches there are; None where the call cannot be captured."""
    try:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            call()
        return _first_launch(graph.raw_cuda_graph())
    except Exception:
        return None


def _first_launch(handle: int) -> LaunchRecord | None:
    from cuda.bindings import driver

    graph = driver.CUgraph(handle)
    count = _checked(driver.cuGraphGetNodes(graph))[-1]
    nodes = _checked(driver.cuGraphGetNodes(graph, count))[0]
    kernel = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    kernels = [node for node in nodes if _checked(driver.cuGraphNodeGetType(node))[0] == kernel]
    if not kernels:
        return None
    params = _checked(driver.cuGraphKernelNodeGetParams(kernels[0]))[0]
    return LaunchRecord(
        grid=(params.gridDimX, params.gridDimY, params.gridDimZ),
        block=(params.blockDimX, params.blockDimY, params.blockDimZ),
        cluster=_cluster(kernels[0]),
        shared_bytes=params.sharedMemBytes,
        launches=len(nodes),
    )


def _cluster(node: Any) -> tuple[int, ...]:
    from cuda.bindings import driver

    attribute = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    try:
        size = _checked(driver.cuGraphKernelNodeGetAttribute(node, attribute))[0].clusterDim
    except Exception:
        return (1, 1, 1)
    return (max(1, size.x), max(1, size.y), max(1, size.z))


def _checked(result: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a driver call.  Raises RuntimeError unless it succeeded."""
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(str(error))
    return tuple(values)


class TritonWatch:
    """Remembers every kernel that Triton loads, and which of them a call launches."""

    def __init__(self) -> None:
        from triton import knobs

        self.loaded: dict[Any, tuple[str, dict[str, str]]] = {}
        self.launched: list[Any] = []
        self.hooks = knobs.runtime
        self.hooks.kernel_load_end_hook.add(self._on_load)

    def start(self) -> None:
        """From here on launches are noted."""
        self.launched = []
        self.hooks.launch_enter_hook.add(self._on_launch)

    def stop(self) -> None:
        self.hooks.launch_enter_hook.remove(self._on_launch)

    def _on_load(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], digest: str) -> None:
        self.loaded[function] = (name, metadata_group)

    def _on_launch(self, metadata: Any) -> None:
        self.launched.append(metadata.get()["function"])

    def binaries(self) -> list[Binary]:
        """The code behind the noted launches."""
        found = [self.loaded[function] for function in dict.fromkeys(self.launched) if function in self.loaded]
        return [_binary(name, files) for name, files in found]


def _binary(name: str, files: dict[str, str]) -> Binary:
    by_suffix = {Path(file).suffix: Path(file) for file in files.values()}
    ptx = by_suffix[".ptx"].read_bytes() if ".ptx" in by_suffix else b""
    shared = json.loads(by_suffix[".json"].read_text()).get("shared", 0) if ".json" in by_suffix else 0
    return Binary(by_suffix[".cubin"].read_bytes(), (name,), ptx, dynamic_shared=shared)
