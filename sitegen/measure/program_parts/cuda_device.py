"""Compile CUDA C++ by NVRTC, and launch it through cuda.core."""

import ctypes
import importlib.util
import sys
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
) -> Any:
    """Return a Call of the file `path` among the sources; `types` are the C++ types of the dtypes."""
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
            prepared[key] = at, _config(at), _compiled(folder / path, folder, at, types[dtype])
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


def _compiled(file: Path, folder: Path, at: Launch, type_name: str) -> Any:
    from cuda.core import Device, Program, ProgramOptions

    torch.cuda.init()
    Device(torch.cuda.current_device()).set_current()
    major, minor = torch.cuda.get_device_capability()
    text = file.read_text(encoding="utf-8")
    cutlass = _cutlass_headers() if "#include <cute/" in text else []
    options = ProgramOptions(
        arch=f"sm_{major}{minor}{'a' if major >= 9 else ''}",
        std="c++17",
        define_macro=[(name, str(value)) for name, value in {"DTYPE": type_name, **at.constants}.items()],
        include_path=[str(one) for one in (file.parent, folder, *_toolkit_headers(), *cutlass)],
        device_as_default_execution_space=True if cutlass else None,
    )
    kernel = Program(text, "c++", options).compile("cubin").get_kernel(at.entry)
    if at.shared:
        _allow_shared(kernel, at.shared)
    return kernel


def _toolkit_headers() -> list[str]:
    """Return the folders of cuda_bf16.h and of CCCL, of the wheels or of the CUDA toolkit."""
    from cuda.pathfinder import find_nvidia_header_directory

    found = [folder for library in ("cudart", "cccl") if (folder := find_nvidia_header_directory(library))]
    toolkit = Path("/usr/local/cuda/include")
    return found or [str(path) for path in (toolkit, toolkit / "cccl") if path.exists()]


def _cutlass_headers() -> list[Path]:
    """Return the folders of the headers of CuTe and of CCCL; end the program where they are not installed."""
    cutlass = _folders_of("cutlass_library", "source/include")
    places = [*_folders_of("nvidia", "*/include"), Path("/usr/local/cuda/include")]
    cccl = [folder for folder in places if (folder / "cccl/cuda/std").is_dir()]
    if not cutlass or not cccl:
        package = "nvidia-cuda-cccl==13.0.85" if cutlass else "nvidia-cutlass==4.2.0.0"
        print(f"It includes CuTe: pip install --no-deps {package}")
        sys.exit(2)
    return [cutlass[0], cccl[0], cccl[0] / "cccl"]


def _folders_of(package: str, pattern: str) -> list[Path]:
    """Return the folders below a package that fit a pattern; the package is not imported."""
    found = importlib.util.find_spec(package)
    places = (found.submodule_search_locations or ()) if found else ()
    return [folder for place in places for folder in sorted(Path(place).glob(pattern))]


def _allow_shared(kernel: Any, size: int) -> None:
    """Allow a kernel more than 48 KB of shared memory in a block, which the driver gives only on demand."""
    from cuda.bindings import driver

    attributes = driver.CUfunction_attribute
    static = attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    dynamic = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    device = driver.CUdevice(torch.cuda.current_device())
    if (driver.cuKernelGetAttribute(static, kernel.handle, device)[1] or 0) + size > DEFAULT_SHARED:
        (error,) = driver.cuKernelSetAttribute(dynamic, size, kernel.handle, device)
        if int(error) != 0:
            raise RuntimeError(f"{size} bytes of dynamic shared memory cannot be allowed: {error}")
