"""An implementation or a baseline → an object with two ways of calling it.

`run_allocating(inputs, dims)` lets the call allocate its outputs, and `run_into(inputs, outs, dims)` gives them.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from sitegen.measure import compile as compiling
from sitegen.measure.geometry import Geometry, constants_of, geometry_of, names_of
from sitegen.measure.inputs import as_tuple
from sitegen.measure.sources import load_module, source_file
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number
from sitegen.model.job import KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Launch, Scalar

Tensors = Sequence[Any]


class Runnable(Protocol):
    """Code that can be called: an implementation, a baseline or a probe.

    `inputs` and `outs` are tensors in the order of kernel.yaml, and `dims` are the dims of their shapes.
    """

    can_allocate: bool
    """True when it can be called without `out`."""
    takes_out: bool
    """True when it can be called with `out`; otherwise every call allocates."""

    def run_allocating(self, inputs: Tensors, dims: Mapping[str, int]) -> tuple[Any, ...]:
        """Call without `out` and return the outputs."""

    def run_into(self, inputs: Tensors, outs: Tensors, dims: Mapping[str, int]) -> Any:
        """Write the outputs into `outs`; return the result of a call that takes no `out`."""


class PythonRunnable:
    """A Python function `f(x, …, *, out=None, **params)` that returns a tensor or a tuple of tensors."""

    can_allocate = True

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Scalar]) -> None:
        self.function, self.params = function, dict(params)
        self.takes_out = "out" in inspect.signature(function).parameters

    def run_allocating(self, inputs: Tensors, dims: Mapping[str, int]) -> tuple[Any, ...]:
        return as_tuple(self.function(*inputs, **self.params))

    def run_into(self, inputs: Tensors, outs: Tensors, dims: Mapping[str, int]) -> Any:
        if not self.takes_out:
            return self.function(*inputs, **self.params)
        self.call_with(inputs, outs)
        return None

    def call_with(self, inputs: Tensors, outs: Tensors) -> Any:
        """Call with `out`, and return what the function returns."""
        return self.function(*inputs, out=outs[0] if len(outs) == 1 else tuple(outs), **self.params)


class BaselineRunnable(PythonRunnable):
    """A baseline of reference.py, which takes its inputs by name: `f(**inputs, out=None, **params)`."""

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Scalar], names: Sequence[str]) -> None:
        super().__init__(function, params)
        self.names = tuple(names)

    def run_allocating(self, inputs: Tensors, dims: Mapping[str, int]) -> tuple[Any, ...]:
        return as_tuple(self.function(**dict(zip(self.names, inputs, strict=True)), **self.params))

    def run_into(self, inputs: Tensors, outs: Tensors, dims: Mapping[str, int]) -> Any:
        if not self.takes_out:
            return self.function(**dict(zip(self.names, inputs, strict=True)), **self.params)
        self.call_with(inputs, outs)
        return None

    def call_with(self, inputs: Tensors, outs: Tensors) -> Any:
        named = dict(zip(self.names, inputs, strict=True))
        return self.function(**named, out=outs[0] if len(outs) == 1 else tuple(outs), **self.params)


class _CompiledRunnable:
    """Base of both kinds of CUDA files: the outputs are always given."""

    can_allocate, takes_out = False, True

    def __init__(
        self, kernel: Kernel, implementation: Implementation, dtype: str, params: Mapping[str, Scalar]
    ) -> None:
        self.kernel, self.implementation, self.dtype, self.params = kernel, implementation, dtype, dict(params)

    def run_allocating(self, inputs: Tensors, dims: Mapping[str, int]) -> tuple[Any, ...]:
        raise TypeError(f"{self.implementation.name} needs `out`")

    def names(self, dims: Mapping[str, int]) -> dict[str, Any]:
        return names_of(dims, self.params, DTYPES[self.dtype].itemsize)


@dataclass(frozen=True, slots=True)
class CudaLaunch:
    """A launch at given dims, ready to run."""

    code: compiling.DeviceCode
    kernel: Any
    """cuda.core.Kernel."""
    geometry: Geometry
    config: Any
    """cuda.core.LaunchConfig."""
    slots: list[Any]
    """The arguments in order; an int is the index of a buffer among inputs and outputs."""


class CudaRunnable(_CompiledRunnable):
    """Device code, compiled by NVRTC for each set of constants, launched as kernel.yaml says."""

    def __init__(
        self, folder: Path, kernel: Kernel, implementation: Implementation, dtype: str, params: Mapping[str, Scalar]
    ) -> None:
        super().__init__(kernel, implementation, dtype, params)
        self.file = source_file(folder, kernel, implementation)
        self.include = [self.file.parent, folder]
        self.launches: dict[tuple[int, ...], CudaLaunch] = {}
        self.codes: dict[compiling.Defines, tuple[compiling.DeviceCode, Any]] = {}
        self.streams: dict[int, Any] = {}

    @property
    def launch(self) -> Launch:
        """The `launch` block of kernel.yaml.  Raises CompileError where there is none."""
        if self.implementation.launch is None:
            raise compiling.CompileError(f"{self.implementation.name} has no launch")
        return self.implementation.launch

    def run_into(self, inputs: Tensors, outs: Tensors, dims: Mapping[str, int]) -> None:
        from cuda.core import launch

        ready = self.launch_at(dims)
        pointers = [tensor.data_ptr() for tensor in (*inputs, *outs)]
        arguments = [pointers[slot] if isinstance(slot, int) else slot for slot in ready.slots]
        launch(self.stream(), ready.config, ready.kernel, *arguments)

    def stream(self) -> Any:
        """Return torch's current stream as a cuda.core.Stream, also while a graph is captured."""
        from cuda.core import Stream

        handle = torch.cuda.current_stream().cuda_stream
        if handle not in self.streams:
            self.streams[handle] = Stream.from_handle(handle)
        return self.streams[handle]

    def launch_at(self, dims: Mapping[str, int]) -> CudaLaunch:
        """Return the launch at these dims, compiled once for each set of constants.  Raises CompileError."""
        key = tuple(dims.values())
        if key not in self.launches:
            names = self.names(dims)
            constants = constants_of(self.launch.constants, names)
            code, kernel = self.code(constants)
            geometry = geometry_of(self.launch, {**names, **constants})
            if geometry.shared_bytes:
                compiling.allow_shared(kernel, geometry.shared_bytes)
            slots = [self.argument(word, {**names, **constants}) for word in self.launch.args]
            self.launches[key] = CudaLaunch(code, kernel, geometry, _config(geometry), slots)
        return self.launches[key]

    def code(self, constants: Mapping[str, Number]) -> tuple[compiling.DeviceCode, Any]:
        """Return the compiled file and its entry on this GPU, compiled once for each set of constants."""
        defines = compiling.definitions(self.dtype, constants)
        if defines not in self.codes:
            arch = compiling.arch_of(torch.cuda.get_device_capability())
            code = compiling.compile_device(self.file, self.launch.entry, arch, defines, self.include)
            self.codes[defines] = code, code.load()
        return self.codes[defines]

    def argument(self, word: str, names: Mapping[str, Any]) -> Any:
        """Return the index of a buffer, or the value of a dim, param or constant as a ctypes number."""
        buffers = [tensor.name for tensor in (*self.kernel.inputs, *self.kernel.outputs)]
        if word in buffers:
            return buffers.index(word)
        value = names[word]
        return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(int(value))


class HostRunnable(_CompiledRunnable):
    """Device and host code in one file, built by `nvcc -shared`.

    The host function is `int f(void** buffers, const int64_t* dims, const double* params, void* stream)`.
    """

    def __init__(
        self, folder: Path, kernel: Kernel, implementation: Implementation, dtype: str, params: Mapping[str, Scalar]
    ) -> None:
        super().__init__(kernel, implementation, dtype, params)
        file = source_file(folder, kernel, implementation)
        self.shared_object = folder / f"_{implementation.name}_{dtype}.so"
        arch = compiling.arch_of(torch.cuda.get_device_capability())
        defines = compiling.definitions(dtype, {})
        self.flags = compiling.compile_host(file, self.shared_object, arch, defines, [file.parent, folder])
        self.function = getattr(ctypes.CDLL(str(self.shared_object)), implementation.host)
        self.function.argtypes, self.function.restype = [ctypes.c_void_p] * 4, ctypes.c_int
        self.numbers = (ctypes.c_double * max(1, len(self.params)))(*(float(v) for v in self.params.values()))

    def run_into(self, inputs: Tensors, outs: Tensors, dims: Mapping[str, int]) -> None:
        tensors = (*inputs, *outs)
        buffers = (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))
        sizes = (ctypes.c_int64 * len(self.kernel.dims))(*(dims[name] for name in self.kernel.dims))
        code = self.function(buffers, sizes, self.numbers, torch.cuda.current_stream().cuda_stream)
        if code != 0:
            raise RuntimeError(f"{self.implementation.host} returned {code}")


def reference_of(folder: Path, kernel: Kernel) -> Any:
    """Return the module `kernels/<kernel>/reference.py`."""
    return load_module(folder, folder / kernel.folder / "reference.py")


def implementation_runnable(
    folder: Path, kernel: Kernel, implementation: Implementation, dtype: str, params: Mapping[str, Scalar]
) -> Runnable:
    """Compile or import an implementation.  Raises CompileError, and whatever the import of the file raises."""
    if implementation.language is Language.CUDA:
        return CudaRunnable(folder, kernel, implementation, dtype, params)
    if implementation.language is Language.CUDA_HOST:
        return HostRunnable(folder, kernel, implementation, dtype, params)
    module = load_module(folder, source_file(folder, kernel, implementation))
    function = getattr(module, kernel.name, None)
    if function is None:
        raise CompileError(f"{implementation.file} has no function `{kernel.name}`")
    return PythonRunnable(function, params)


def baseline_runnable(folder: Path, kernel: Kernel, name: str, dtype: str, params: Mapping[str, Scalar]) -> Runnable:
    """Return a baseline, of a file of its own or of reference.py.  Raises as `implementation_runnable` does."""
    own = next((one for one in kernel.baseline_files if one.name == name), None)
    if own:
        return implementation_runnable(folder, kernel, own, dtype, params)
    return reference_baseline(folder, kernel, name, params)


def first_reference_baseline(kernel: Kernel) -> str:
    """Return the name of the first baseline that is a function of reference.py; empty without one."""
    files = {one.name for one in kernel.baseline_files}
    return next((name for name in kernel.baselines if name not in files), "")


def reference_baseline(folder: Path, kernel: Kernel, name: str, params: Mapping[str, Scalar]) -> BaselineRunnable:
    """Return a baseline of reference.py.  Raises CompileError when it has none of that name."""
    functions = reference_of(folder, kernel).BASELINES
    if name not in functions:
        raise CompileError(f"reference.py has no baseline `{name}`, only {', '.join(functions)}")
    return BaselineRunnable(functions[name], params, [tensor.name for tensor in kernel.inputs])


def params_of(job: KernelJob | RejectJob) -> dict[str, Scalar]:
    """Return the params of a job; a reject job takes the first value of each."""
    if isinstance(job, KernelJob):
        return {**{name: values[0] for name, values in job.kernel.params.items()}, **job.params}
    return {name: values[0] for name, values in job.kernel.params.items()}


CompileError = compiling.CompileError


def _config(geometry: Geometry) -> Any:
    """Return the launch configuration; cuda.core counts the grid in clusters where a launch has clusters."""
    from cuda.core import LaunchConfig

    if geometry.cluster == (1, 1, 1):
        return LaunchConfig(grid=geometry.grid, block=geometry.block, shmem_size=geometry.shared_bytes)
    clusters = tuple(blocks // size for blocks, size in zip(geometry.grid, geometry.cluster, strict=True))
    return LaunchConfig(grid=clusters, cluster=geometry.cluster, block=geometry.block, shmem_size=geometry.shared_bytes)
