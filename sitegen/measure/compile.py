"""CUDA C++ → something that can be launched: NVRTC through cuda.core, or nvcc for files with host code."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate

COMPILE_DEADLINE_S = 120.0
Defines = tuple[tuple[str, str], ...]


class CompileError(Exception):
    """The compiler's own words."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """One translation unit for one architecture."""

    kernel: Any
    """cuda.core.Kernel."""
    cubin: bytes
    flags: str
    ptx: Callable[[], bytes]
    """Compiles once more, for the reader: empty where that fails."""


def arch_of(capability: tuple[int, int]) -> str:
    """`sm_90a` on Hopper: without the letter wgmma and setmaxnreg do not exist, silently."""
    major, minor = capability
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def constants_of(constants: Mapping[str, str], names: Mapping[str, Number]) -> dict[str, Number]:
    """Their values; a constant may use dims, params and the constants before it."""
    known = dict(names)
    for name, expression in constants.items():
        known[name] = evaluate(expression, known)
    return {name: known[name] for name in constants}


def definitions(dtype: str, constants: Mapping[str, Number]) -> tuple[tuple[str, str], ...]:
    """What becomes -DNAME=value."""
    return ("DTYPE", DTYPES[dtype].cuda), *((name, str(value)) for name, value in constants.items())


def compile_device(source: str, entry: str, arch: str, defines: Defines, include: list[Path]) -> DeviceCode:
    """Compiles for `arch` with NVRTC and finds the entry.  Raises CompileError."""
    options = _options(entry, arch, defines, include)
    flags = " ".join([f"-arch={arch}", "-std=c++17", "-lineinfo", *(f"-D{n}={v}" for n, v in defines)])
    code = compile_module(source, options)
    try:
        kernel = code.get_kernel(entry)
    except Exception as error:
        raise CompileError(f"no entry `{entry}`: {error}") from error
    return DeviceCode(kernel, bytes(code.code), flags, lambda: _ptx(source, options))


def compile_module(source: str, options: Any) -> Any:
    """cuda.core's ObjectCode of all entries of a file.  Raises CompileError."""
    from cuda.core import Program

    try:
        return Program(source, "c++", options=options).compile("cubin")
    except Exception as error:
        raise CompileError(str(error)) from error


def compile_probe(file: Path, defines: Defines) -> Any:
    """As above, of one of our own probes for the GPU at hand."""
    import torch

    arch = arch_of(torch.cuda.get_device_capability())
    return compile_module(file.read_text(encoding="utf-8"), _options(file.stem, arch, defines, []))


def _options(name: str, arch: str, defines: Defines, include: list[Path]) -> Any:
    from cuda.core import ProgramOptions

    paths = [str(path) for path in [*include, *toolkit_includes()]]
    return ProgramOptions(
        name=name, arch=arch, std="c++17", lineinfo=True, define_macro=list(defines) or None, include_path=paths or None
    )


def _ptx(source: str, options: Any) -> bytes:
    from cuda.core import Program

    try:
        code = Program(source, "c++", options=options).compile("ptx").code
    except Exception:
        return b""
    return code.encode() if isinstance(code, str) else bytes(code).rstrip(b"\0")


def allow_shared(kernel: Any, size: int) -> None:
    """More than 48 KB of dynamic shared memory must be asked for.  Raises RuntimeError where there is not so much."""
    import torch
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (error,) = driver.cuKernelSetAttribute(attribute, size, kernel.handle, driver.CUdevice(torch.cuda.current_device()))
    if int(error) != 0:
        raise RuntimeError(f"{size} bytes of shared memory: {error}")


def compile_host(file: Path, library: Path, arch: str, defines: Defines, include: list[Path]) -> str:
    """Builds a shared library with nvcc and returns the flags.  Raises CompileError."""
    number = arch.removeprefix("sm_")
    flags = ["-std=c++17", "-O3", "-lineinfo", f"-gencode=arch=compute_{number},code=sm_{number}"]
    flags += [f"-D{name}={value}" for name, value in defines]
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    paths = [f"-I{path}" for path in include]
    command = [nvcc, "-shared", "-Xcompiler", "-fPIC", *flags, *paths, str(file), "-o", str(library), "-lcuda"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_DEADLINE_S)
    except FileNotFoundError as error:
        raise CompileError("a file with host code needs nvcc, which is not here") from error
    if done.returncode != 0:
        raise CompileError((done.stderr or done.stdout).strip())
    return " ".join(flags)


def toolkit_includes() -> list[Path]:
    """The folders of cuda_bf16.h and of CCCL: the toolkit's, or those of the wheels."""
    found = [folder for library in ("cudart", "cccl") if (folder := _headers_of(library))]
    toolkit = Path("/usr/local/cuda/include")
    return found or [path for path in (toolkit, toolkit / "cccl") if path.exists()]


def _headers_of(library: str) -> Path | None:
    try:
        from cuda.pathfinder import find_nvidia_header_directory

        folder = find_nvidia_header_directory(library)
    except Exception:
        return None
    return Path(folder) if folder else None
