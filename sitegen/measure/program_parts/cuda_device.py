"""Compile CUDA C++ by NVRTC, and launch it through cuda.core."""

import ctypes
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

DEFAULT_SHARED = 48 * 1024
"""Bytes of shared memory that a block may use without asking."""


@dataclass(frozen=True)
class Launch:
    """A launch at given dims."""

    entry: str
    grid: Sequence[int]
    """Blocks, also where blocks form clusters."""
    block: Sequence[int]
    arguments: Sequence[Any]
    """Names of tensors, and numbers: an int becomes a `long long`, a float a `double`."""
    constants: Mapping[str, Any]
    cluster: Sequence[int] = ()
    shared: int = 0
    """Bytes of dynamic shared memory."""


def device_call(
    sources: Mapping[str, str],
    path: str,
    launch_at: Callable[..., Launch],
    types: Mapping[str, str],
    outputs: Sequence[str],
    headers_of: Callable[[str], list[Path]],
) -> Any:
    """Return a Call of the file `path` among the sources; `types` are the C++ types of the dtypes, and `headers_of`
    returns the folders of the headers of CuTe that a text needs."""
    folder = Path(tempfile.mkdtemp())
    for name, text in sources.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    prepared: dict[Any, Any] = {}

    def call(inputs: Mapping[str, Any], outs: Sequence[Any], names: Mapping[str, Any], dtype: str) -> Sequence[Any]:
        from cuda.core import Stream, launch

        key = dtype, *names.items()
        if key not in prepared:
            at = launch_at(**names)
            headers = headers_of(sources[path])
            prepared[key] = at, _config(at), _compiled(folder / path, folder, at, types[dtype], headers)
        at, config, kernel = prepared[key]
        tensors = {**inputs, **dict(zip(outputs, outs, strict=True))}
        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        launch(stream, config, kernel, *(_argument(one, tensors) for one in at.arguments))
        return outs

    return call


def _argument(one: Any, tensors: Mapping[str, Any]) -> Any:
    if isinstance(one, str):
        return tensors[one].data_ptr()
    return ctypes.c_double(one) if isinstance(one, float) else ctypes.c_int64(one)


def _config(at: Launch) -> Any:
    """Return the launch configuration; cuda.core counts the grid in clusters where a launch has clusters."""
    from cuda.core import LaunchConfig

    if not at.cluster:
        return LaunchConfig(grid=tuple(at.grid), block=tuple(at.block), shmem_size=at.shared)
    cluster = (*at.cluster, 1, 1)[:3]
    grid = tuple(blocks // size for blocks, size in zip((*at.grid, 1, 1)[:3], cluster, strict=True))
    return LaunchConfig(grid=grid, cluster=cluster, block=tuple(at.block), shmem_size=at.shared)


def _compiled(file: Path, folder: Path, at: Launch, type_name: str, headers: list[Path]) -> Any:
    from cuda.core import Device, Program, ProgramOptions

    torch.cuda.init()
    Device(torch.cuda.current_device()).set_current()
    major, minor = torch.cuda.get_device_capability()
    options = ProgramOptions(
        arch=f"sm_{major}{minor}{'a' if major >= 9 else ''}",
        std="c++17",
        define_macro=[(name, str(value)) for name, value in {"DTYPE": type_name, **at.constants}.items()],
        include_path=[str(one) for one in (file.parent, folder, *_toolkit_headers(), *headers)],
        device_as_default_execution_space=True if headers else None,
    )
    kernel = Program(file.read_text(encoding="utf-8"), "c++", options).compile("cubin").get_kernel(at.entry)
    if at.shared:
        _allow_shared(kernel, at.shared)
    return kernel


def _toolkit_headers() -> list[str]:
    """Return the folders of cuda_bf16.h and of CCCL, of the wheels or of the CUDA toolkit."""
    from cuda.pathfinder import find_nvidia_header_directory

    found = [folder for library in ("cudart", "cccl") if (folder := find_nvidia_header_directory(library))]
    toolkit = Path("/usr/local/cuda/include")
    return found or [str(path) for path in (toolkit, toolkit / "cccl") if path.exists()]


def _allow_shared(kernel: Any, size: int) -> None:
    """Allow a kernel more than 48 KB of shared memory in a block, which the driver gives only on demand.

    Raises MemoryError where the GPU does not have so much for a block.
    """
    from cuda.bindings import driver

    attributes = driver.CUfunction_attribute
    static = attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    dynamic = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    most = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    device = driver.CUdevice(torch.cuda.current_device())
    needed = (driver.cuKernelGetAttribute(static, kernel.handle, device)[1] or 0) + size
    if needed > (available := driver.cuDeviceGetAttribute(most, device)[1]):
        text = f"A block takes {needed / 1024:g} KiB of shared memory, this GPU has {available / 1024:g} KiB."
        raise MemoryError(text)
    if needed > DEFAULT_SHARED:
        (error,) = driver.cuKernelSetAttribute(dynamic, size, kernel.handle, device)
        if int(error) != 0:
            raise RuntimeError(f"{size} bytes of dynamic shared memory cannot be allowed: {error}")
