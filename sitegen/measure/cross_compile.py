"""One implementation → registers, spills, instructions and launch, compiled for a GPU that need not be here.

NVRTC and nvcc compile for any architecture; Triton does with a driver of ours (offline.py).  No kernel runs.
`main` is a program of the fork server (fork_server.py).
"""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sitegen.measure import compile as compiling
from sitegen.measure.artefacts import Binary, Disassembly, cuobjdump, disassemble, pack_all
from sitegen.measure.cutlass import missing_headers
from sitegen.measure.faults import failure_of
from sitegen.measure.geometry import constants_of, geometry_of, names_of
from sitegen.measure.longest_kernel import (
    LaunchedKernel,
    compilation_of,
    launch_record,
    longest_kernel,
    occupancy_of,
    resources_of,
)
from sitegen.measure.occupancy import limits_of
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import CollectedArtefacts
from sitegen.measure.sources import source_file
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate_int
from sitegen.model.job import KernelJob
from sitegen.model.kernel import Implementation, Kernel, Language, Scalar, Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Compilation, LaunchRecord

Compiled = tuple[list[Binary], list[LaunchedKernel]]
"""Machine code of the kernels that a call launches, and the launches where they are known, in order."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """An implementation for one dtype, one set of params and one shape."""

    folder: Path
    kernel: Kernel
    implementation: Implementation
    dtype: str
    params: Mapping[str, Scalar]
    dims: Mapping[str, int]

    @property
    def file(self) -> Path:
        return source_file(self.folder, self.kernel, self.implementation)

    @property
    def include(self) -> list[Path]:
        return [self.file.parent, self.folder]


@dataclass(frozen=True, slots=True)
class CrossCompiled:
    """Compiled code of one implementation."""

    compilation: Compilation
    launch: LaunchRecord | None
    """Launch of the kernel with the most work; None for a file with host code, whose launches are not known."""
    artefacts: Mapping[str, bytes]
    """PTX and SASS by `<sha256>.<kind>`."""


def main(arguments: list[str]) -> None:
    """Write a `Collected` as JSON, or the message of an EvaluationEnded when it cannot be compiled.

    The arguments are the file of the job, the folder with its sources, the name of the implementation, the architecture
    and the file of the result.
    """
    job, folder, name, arch, result = arguments
    os.environ["TRITON_INTERPRET"] = "0"  # the other processes of such a job interpret
    kernel_job = from_plain(KernelJob, json.loads(Path(job).read_text("utf-8")))
    specialization = specialization_of(kernel_job, Path(folder), name)
    Path(result).write_text(json.dumps(answer(specialization, arch)), encoding="utf-8")


def specialization_of(job: KernelJob, folder: Path, name: str) -> Specialization:
    """Return the implementation of that name as the job would measure it."""
    implementation = next(i for i in job.kernel.implementations if i.name == name)
    params = {param: values[0] for param, values in job.kernel.params.items()} | dict(job.params)
    return Specialization(folder, job.kernel, implementation, job.dtype, params, job.workload.dims)


def answer(this: Specialization, arch: str) -> dict[str, Any]:
    """Return a `Collected` as plain JSON, or the message of an EvaluationEnded."""
    try:
        compiled = cross_compile(this, arch)
    except Exception as error:
        return failure_of(error, this.folder, this.implementation).to_message()
    collected: dict[str, Any] = to_plain(
        CollectedArtefacts(compiled.launch, compiled.compilation, pack_all(compiled.artefacts))
    )
    return collected


def cross_compile(this: Specialization, arch: str) -> CrossCompiled:
    """Compile for an architecture such as `sm_90a`.

    Raises CompileError with the message of the compiler, whatever the file's own code raises, and EvaluationEnded:
    `unsupported`, or `not_run` when something is not installed here.
    """
    _require_compiler(this, arch)
    binaries, launches = _COMPILERS[this.implementation.language](this, arch)
    listing = disassemble(binaries, arch)
    if listing is None:
        entries = ", ".join(f"`{entry}`" for binary in binaries for entry in binary.entries)
        raise compiling.CompileError(f"no entry {entries} in {this.implementation.file}")
    if not launches:
        return CrossCompiled(listing.compilation, None, listing.artefacts)
    for one in launches:
        _require_room(one, listing, arch)
    longest = longest_kernel(launches, (), listing.lengths)
    launch = launch_record(longest, len(launches), limits_of(arch), listing)
    return CrossCompiled(compilation_of(longest, listing), launch, listing.artefacts)


def _require_compiler(this: Specialization, arch: str) -> None:
    implementation = this.implementation
    if not compiling.supports(arch, implementation.arch):
        raise EvaluationEnded(Status.UNSUPPORTED, f"needs {implementation.arch}, and {arch} was asked for")
    if missing := _missing(implementation.language) or missing_headers(this.file.read_text("utf-8")):
        raise EvaluationEnded(Status.NOT_RUN, missing)


def _missing(language: Language) -> str:
    """Return what would have to be installed to compile that language; empty when nothing is missing."""
    if not cuobjdump():
        return "needs cuobjdump, of the CUDA toolkit or of Triton"
    if language is Language.TRITON:
        return "" if importlib.util.find_spec("triton") else "needs Triton (`pip install triton`)"
    if language is Language.CUDA_HOST:
        return "" if compiling.nvcc() else "a file with host code needs nvcc, of the CUDA toolkit"
    if not compiling.nvrtc_version():
        return "needs NVRTC (`pip install cuda-bindings nvidia-cuda-nvrtc nvidia-cuda-runtime`)"
    return "" if compiling.toolkit_includes() else "needs CUDA's headers (`pip install nvidia-cuda-runtime`)"


def _cuda(this: Specialization, arch: str) -> Compiled:
    launch = this.implementation.launch
    if launch is None:
        raise compiling.CompileError(f"{this.implementation.name} has no launch")
    names = names_of(this.dims, this.params, DTYPES[this.dtype].itemsize)
    constants = constants_of(launch.constants, names)
    geometry = geometry_of(launch, {**names, **constants})
    defines = compiling.definitions(this.dtype, constants)
    code = compiling.compile_device(this.file, launch.entry, arch, defines, this.include)
    return [code.binary(geometry.shared_bytes)], [LaunchedKernel(launch.entry, geometry)]


def _host(this: Specialization, arch: str) -> Compiled:
    defines = compiling.definitions(this.dtype, {})
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "code.cubin"
        flags = compiling.compile_host_device_code(this.file, cubin, arch, defines, this.include)
        return [Binary(cubin.read_bytes(), flags=flags)], []


def _triton(this: Specialization, arch: str) -> Compiled:
    from triton.runtime.errors import OutOfResources

    from sitegen.measure.offline import use_offline_gpu
    from sitegen.measure.runnable import implementation_runnable

    gpu = use_offline_gpu(arch)
    function = implementation_runnable(this.folder, this.kernel, this.implementation, this.dtype, this.params)
    try:
        binaries, launches = gpu.kernels_of(partial(function.run_into, *_tensors(this), this.dims))
    except OutOfResources as error:
        raise compiling.CompileError(f"does not fit on an SM of {arch}: {error}") from error
    if not binaries:
        raise EvaluationEnded(Status.NOT_RUN, "it launches no Triton kernel")
    return binaries, launches


def _tensors(this: Specialization) -> tuple[list[Any], list[Any]]:
    """Return inputs and outputs on torch's `meta` device: shapes without memory."""
    import torch

    from sitegen.measure.inputs import dtype_of, output_dtypes, output_shapes

    names = names_of(this.dims, this.params, DTYPES[this.dtype].itemsize)
    shapes = [[evaluate_int(length, names) for length in tensor.shape] for tensor in this.kernel.inputs]
    dtypes = [dtype_of(tensor, this.dtype) for tensor in this.kernel.inputs]
    outs = zip(output_shapes(this.kernel, names), output_dtypes(this.kernel, this.dtype), strict=True)
    tensors = [torch.empty(s, dtype=d, device="meta") for s, d in (*zip(shapes, dtypes, strict=True), *outs)]
    return tensors[: len(shapes)], tensors[len(shapes) :]


def _require_room(launch: LaunchedKernel, listing: Disassembly, arch: str) -> None:
    """Raise CompileError when a block of a launch would not fit on an SM."""
    used = resources_of(launch, listing)
    if used is None or occupancy_of(launch, limits_of(arch), listing) != 0:
        return
    shared = used.shared_bytes + launch.geometry.shared_bytes
    block = f"{launch.geometry.threads} threads of {used.registers} registers and {shared} bytes of shared memory"
    raise compiling.CompileError(f"a block does not fit on an SM of {arch}: {block}")


_COMPILERS = {Language.CUDA: _cuda, Language.CUDA_HOST: _host, Language.TRITON: _triton}
