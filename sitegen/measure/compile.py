"""CUDA C++ → something that can be launched: NVRTC through cuda.core, or nvcc for files with host code."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitegen.measure.artefacts import Binary
from sitegen.measure.occupancy import number_of
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number

COMPILE_DEADLINE_S = 120.0
UNASKED_SHARED = 48 * 1024
"""Bytes of shared memory that a block may have without asking."""
Defines = tuple[tuple[str, str], ...]


class CompileError(Exception):
    """The compiler's own words."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """One translation unit for one architecture, made without a GPU."""

    cubin: bytes
    ptx: bytes
    entry: str
    flags: str

    def load(self) -> Any:
        """The entry as a cuda.core.Kernel on the GPU at hand.  Raises CompileError when the file has none."""
        from cuda.core import ObjectCode

        try:
            return ObjectCode.from_cubin(self.cubin, name=self.entry).get_kernel(self.entry)
        except Exception as error:
            raise CompileError(f"no entry `{self.entry}`: {error}") from error

    def binary(self, dynamic_shared: int) -> Binary:
        return Binary(self.cubin, (self.entry,), self.ptx, self.flags, dynamic_shared)


def arch_of(capability: tuple[int, int]) -> str:
    """`sm_90a` on Hopper: without the letter wgmma and setmaxnreg do not exist, silently."""
    major, minor = capability
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def supports(arch: str, required: str) -> bool:
    """Whether `sm_90a` is at least `>=sm_90`; nothing required is always met."""
    digits = "".join(c for c in required if c.isdigit())
    return not digits or int(number_of(arch)) >= int(digits)


def definitions(dtype: str, constants: Mapping[str, Number]) -> tuple[tuple[str, str], ...]:
    """What becomes -DNAME=value."""
    return ("DTYPE", DTYPES[dtype].cuda), *((name, str(value)) for name, value in constants.items())


def compile_device(file: Path, entry: str, arch: str, defines: Defines, include: list[Path]) -> DeviceCode:
    """Compiles for `arch`, any that NVRTC knows.  Raises CompileError."""
    flags = [f"-arch={arch}", "-std=c++17", "-lineinfo", *(f"-D{name}={value}" for name, value in defines)]
    cubin, ptx = _nvrtc(file, [*flags, *_includes([*include, *toolkit_includes()])])
    return DeviceCode(cubin, ptx, entry, " ".join(flags))


def compile_probe(file: Path, defines: Defines) -> Any:
    """One of our own probes for the GPU at hand, as a cuda.core.ObjectCode with all its entries."""
    import torch
    from cuda.core import ObjectCode

    arch = arch_of(torch.cuda.get_device_capability())
    return ObjectCode.from_cubin(compile_device(file, file.stem, arch, defines, []).cubin, name=file.stem)


def nvrtc_version() -> str:
    """`13.0`; empty when it is not here."""
    try:
        from cuda.bindings import nvrtc

        error, major, minor = nvrtc.nvrtcVersion()
    except Exception:
        return ""
    return f"{major}.{minor}" if int(error) == 0 else ""


def _nvrtc(file: Path, options: list[str]) -> tuple[bytes, bytes]:
    """Cubin and PTX of one compilation, by NVRTC itself: cuda.core gives PTX only where there is a driver."""
    from cuda.bindings import nvrtc

    program = _checked(nvrtc.nvrtcCreateProgram(file.read_bytes(), file.name.encode(), 0, [], []))
    try:
        (error,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(error) != 0:
            raise CompileError(_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode().strip())
        cubin = _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
        return cubin, _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program).rstrip(b"\0")
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(size: Callable[..., Any], get: Callable[..., Any], program: Any) -> bytes:
    """What NVRTC writes into a buffer of the size that it asks for."""
    buffer = bytearray(_checked(size(program)))
    _checked(get(program, buffer))
    return bytes(buffer)


def _checked(result: tuple[Any, ...]) -> Any:
    error, *values = result
    if int(error) != 0:
        raise CompileError(f"NVRTC: {error}")
    return values[0] if values else None


def allow_shared(kernel: Any, size: int) -> None:
    """`size` bytes of dynamic shared memory, which must be asked for where a block has more than 48 KB in all.

    What was allowed before stays.  Raises RuntimeError where there is not so much.
    """
    import torch
    from cuda.bindings import driver

    static = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    dynamic = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    device = driver.CUdevice(torch.cuda.current_device())
    fixed, allowed = (driver.cuKernelGetAttribute(a, kernel.handle, device)[1] or 0 for a in (static, dynamic))
    if fixed + size <= UNASKED_SHARED:
        return
    (error,) = driver.cuKernelSetAttribute(dynamic, max(size, allowed), kernel.handle, device)
    if int(error) != 0:
        raise RuntimeError(f"{size} bytes of shared memory: {error}")


def compile_host(file: Path, library: Path, arch: str, defines: Defines, include: list[Path]) -> str:
    """Builds a shared library with nvcc, unless an earlier process did, and returns the flags.  Raises CompileError."""
    flags = host_flags(arch, defines)
    if not library.exists():
        _nvcc(["-shared", "-Xcompiler", "-fPIC", *flags, *_includes(include), str(file), "-o", str(library), "-lcuda"])
    return " ".join(flags)


def compile_host_device_code(file: Path, cubin: Path, arch: str, defines: Defines, include: list[Path]) -> str:
    """Only what would run on the GPU, which links nothing of a driver; otherwise as above."""
    flags = host_flags(arch, defines)
    _nvcc(["-cubin", *flags, *_includes(include), str(file), "-o", str(cubin)])
    return " ".join(flags)


def host_flags(arch: str, defines: Defines) -> list[str]:
    number = arch.removeprefix("sm_")
    flags = ["-std=c++17", "-O3", "-lineinfo", f"-gencode=arch=compute_{number},code=sm_{number}"]
    return flags + [f"-D{name}={value}" for name, value in defines]


def nvcc() -> str:
    """Empty when it is not here."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc") or ""


def _nvcc(arguments: list[str]) -> None:
    if not nvcc():
        raise CompileError("a file with host code needs nvcc, which is not here")
    done = subprocess.run([nvcc(), *arguments], capture_output=True, text=True, timeout=COMPILE_DEADLINE_S)
    if done.returncode != 0:
        raise CompileError((done.stderr or done.stdout).strip())


def _includes(include: list[Path]) -> list[str]:
    return [f"-I{path}" for path in include]


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
