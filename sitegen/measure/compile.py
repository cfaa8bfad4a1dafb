"""CUDA C++ → a cubin by NVRTC, or a shared library by nvcc for files with host code."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitegen.measure.artefacts import Binary
from sitegen.measure.cutlass import header_folders, missing_headers
from sitegen.measure.kept_code import keep, kept_file, read_kept
from sitegen.measure.occupancy import number_of
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number
from sitegen.model.kernel import Status

COMPILE_DEADLINE_S = 120.0
DEFAULT_SHARED = 48 * 1024
"""Bytes of shared memory that a block may use without setting a function attribute."""
Defines = tuple[tuple[str, str], ...]
"""Names and values of macros."""


class CompileError(Exception):
    """Code that does not compile; the text is the message of the compiler."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """One translation unit, compiled for one architecture; needs no GPU."""

    cubin: bytes
    ptx: bytes
    entry: str
    flags: str

    def load(self) -> Any:
        """Return the entry as a cuda.core.Kernel on the GPU at hand.  Raises CompileError when the file has no such
        entry."""
        from cuda.core import ObjectCode

        try:
            return ObjectCode.from_cubin(self.cubin, name=self.entry).get_kernel(self.entry)
        except Exception as error:
            raise CompileError(f"no entry `{self.entry}`: {error}") from error

    def binary(self, dynamic_shared: int) -> Binary:
        """Return the machine code of a launch with so many bytes of dynamic shared memory."""
        return Binary(self.cubin, (self.entry,), self.ptx, self.flags, dynamic_shared)


def arch_of(capability: tuple[int, int]) -> str:
    """Return the architecture of a compute capability: `sm_90a` for Hopper.

    Without the letter, wgmma and setmaxnreg are missing.
    """
    major, minor = capability
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def supports(arch: str, required: str) -> bool:
    """Return whether an architecture such as `sm_90a` meets `>=sm_90`; an empty requirement is always met."""
    digits = "".join(c for c in required if c.isdigit())
    return not digits or int(number_of(arch)) >= int(digits)


def definitions(dtype: str, constants: Mapping[str, Number]) -> tuple[tuple[str, str], ...]:
    """Return the macros that a file is compiled with: DTYPE and the constants of the launch."""
    return ("DTYPE", DTYPES[dtype].cuda), *((name, str(value)) for name, value in constants.items())


def compile_device(file: Path, entry: str, arch: str, defines: Defines, include: list[Path]) -> DeviceCode:
    """Compile a file by NVRTC for any architecture that it knows.  Raises CompileError."""
    cutlass = _cutlass_folders(file)
    flags = [f"-arch={arch}", "-std=c++17", "-lineinfo", *(f"-D{name}={value}" for name, value in defines)]
    flags += ["-default-device"] if cutlass else []
    kept = kept_file(file, flags, include)
    cubin, ptx = read_kept(kept) or _nvrtc(file, [*flags, *_includes([*include, *toolkit_includes(), *cutlass])])
    keep(kept, cubin, ptx)
    return DeviceCode(cubin, ptx, entry, " ".join(flags))


def _cutlass_folders(file: Path) -> list[Path]:
    """Return the folders of the headers of CuTe for a file that includes it.  Raises CompileError without them."""
    text = file.read_text("utf-8")
    if missing := missing_headers(text):
        raise CompileError(f"{file.name}: {missing}")
    return header_folders(text)


def compile_probe(file: Path, defines: Defines) -> Any:
    """Return a file of probes/ compiled for the GPU at hand, as a cuda.core.ObjectCode with all its entries."""
    import torch
    from cuda.core import ObjectCode

    arch = arch_of(torch.cuda.get_device_capability())
    return ObjectCode.from_cubin(compile_device(file, file.stem, arch, defines, []).cubin, name=file.stem)


def nvrtc_version() -> str:
    """Return the version of NVRTC, `13.0`; empty when it is not installed."""
    try:
        from cuda.bindings import nvrtc

        error, major, minor = nvrtc.nvrtcVersion()
    except Exception:
        return ""
    return f"{major}.{minor}" if int(error) == 0 else ""


def _nvrtc(file: Path, options: list[str]) -> tuple[bytes, bytes]:
    """Return cubin and PTX of one compilation.

    NVRTC is called directly, because cuda.core gives PTX only where there is a driver.
    """
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
    """Return the bytes that NVRTC writes into a buffer of the size that it asks for."""
    buffer = bytearray(_checked(size(program)))
    _checked(get(program, buffer))
    return bytes(buffer)


def _checked(result: tuple[Any, ...]) -> Any:
    error, *values = result
    if int(error) != 0:
        raise CompileError(f"NVRTC: {error}")
    return values[0] if values else None


def largest_shared() -> int:
    """Return the bytes of shared memory that a block may have on the GPU at hand."""
    import torch
    from cuda.bindings import driver

    most = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    size: int = driver.cuDeviceGetAttribute(most, driver.CUdevice(torch.cuda.current_device()))[1]
    return size


def allow_shared(kernel: Any, size: int) -> None:
    """Allow a kernel `size` bytes of dynamic shared memory, which is needed where a block uses more than 48 KB.

    A larger size that was allowed before stays.  Raises EvaluationEnded(unsupported) where the GPU does not have so
    much for a block, and RuntimeError where it refuses for another reason.
    """
    import torch
    from cuda.bindings import driver

    static = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    dynamic = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    device = driver.CUdevice(torch.cuda.current_device())
    fixed, allowed = (driver.cuKernelGetAttribute(a, kernel.handle, device)[1] or 0 for a in (static, dynamic))
    if (needed := fixed + size) <= DEFAULT_SHARED:
        return
    if needed > (available := largest_shared()):
        text = f"a block takes {needed / 1024:g} KiB of shared memory, this GPU has {available / 1024:g} KiB"
        raise EvaluationEnded(Status.UNSUPPORTED, text)
    (error,) = driver.cuKernelSetAttribute(dynamic, max(size, allowed), kernel.handle, device)
    if int(error) != 0:
        raise RuntimeError(f"{size} bytes of dynamic shared memory cannot be allowed: {error}")


def compile_host(file: Path, library: Path, arch: str, defines: Defines, include: list[Path]) -> str:
    """Build a shared library with nvcc, unless an earlier process built it; return the flags.  Raises CompileError."""
    flags = host_flags(arch, defines)
    if not library.exists():
        # Another process or thread may look for the library while nvcc writes: it must find all of it, or nothing.
        part = library.with_name(f"{library.name}.{os.getpid()}-{threading.get_ident()}")
        options = [*flags, *_includes([*include, *_cutlass_folders(file)])]
        _nvcc(["-shared", "-Xcompiler", "-fPIC", *options, str(file), "-o", str(part), "-lcuda"])
        part.replace(library)
    return " ".join(flags)


def compile_host_device_code(file: Path, cubin: Path, arch: str, defines: Defines, include: list[Path]) -> str:
    """Compile only the device code to a cubin, which needs no driver to link; return the flags.  Raises
    CompileError."""
    flags = host_flags(arch, defines)
    _nvcc(["-cubin", *flags, *_includes([*include, *_cutlass_folders(file)]), str(file), "-o", str(cubin)])
    return " ".join(flags)


def host_flags(arch: str, defines: Defines) -> list[str]:
    """Return the flags of nvcc."""
    number = arch.removeprefix("sm_")
    flags = ["-std=c++17", "-O3", "-lineinfo", f"-gencode=arch=compute_{number},code=sm_{number}"]
    return flags + [f"-D{name}={value}" for name, value in defines]


def nvcc() -> str:
    """Return the path of nvcc; empty when it is not installed."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc") or ""


def _nvcc(arguments: list[str]) -> None:
    if not nvcc():
        raise CompileError("a file with host code needs nvcc, which is not installed here")
    done = subprocess.run([nvcc(), *arguments], capture_output=True, text=True, timeout=COMPILE_DEADLINE_S)
    if done.returncode != 0:
        raise CompileError((done.stderr or done.stdout).strip())


def _includes(include: list[Path]) -> list[str]:
    return [f"-I{path}" for path in include]


def toolkit_includes() -> list[Path]:
    """Return the folders of cuda_bf16.h and of CCCL, of the wheels or of the CUDA toolkit."""
    folders = [folder for library in ("cudart", "cccl") if (folder := _headers_of(library))]
    toolkit = Path("/usr/local/cuda/include")
    return folders or [path for path in (toolkit, toolkit / "cccl") if path.exists()]


def _headers_of(library: str) -> Path | None:
    try:
        from cuda.pathfinder import find_nvidia_header_directory

        folder = find_nvidia_header_directory(library)
    except Exception:
        return None
    return Path(folder) if folder else None
