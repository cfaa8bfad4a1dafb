"""One implementation compiled for an architecture that need not be here: registers, spills, instructions, launch.

NVRTC and nvcc compile for any architecture; Triton does when its driver is one of ours (offline.py).  Nothing runs.
As a process: `python -m sitegen.measure.cross JOB.json FOLDER NAME ARCH RESULT.json`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sitegen.measure import compile as compiling
from sitegen.measure.artefacts import Binary, Usage, cuobjdump, disassemble, plain
from sitegen.measure.child import classify
from sitegen.measure.geometry import Geometry, constants_of, geometry_of, names_of
from sitegen.measure.occupancy import limits_of, occupancy
from sitegen.measure.protocol import Ended
from sitegen.measure.sources import source_file
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate_int
from sitegen.model.job import KernelJob
from sitegen.model.kernel import Implementation, Kernel, Language, Scalar, Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Compilation, LaunchRecord

Made = tuple[list[Binary], list[Geometry]]
"""The code of what is launched, and its shapes where they are known: both in order."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """What is compiled: an implementation for one dtype, one set of params and one shape."""

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
    compilation: Compilation
    launch: LaunchRecord | None
    """None of a file with host code, which launches as it likes."""
    artefacts: Mapping[str, bytes]
    """PTX and SASS by `<sha256>.<kind>`."""


def main(arguments: list[str]) -> None:
    """Writes `compilation`, `launch` and `artefacts`, ready to be sent, or `status` and `message`."""
    job, folder, name, arch, result = arguments
    this = specialization_of(from_plain(KernelJob, json.loads(Path(job).read_text("utf-8"))), Path(folder), name)
    Path(result).write_text(json.dumps(answer(this, arch)), encoding="utf-8")


def specialization_of(job: KernelJob, folder: Path, name: str) -> Specialization:
    """Of the implementation of that name, as the job would measure it."""
    implementation = next(i for i in job.kernel.implementations if i.name == name)
    params = {param: values[0] for param, values in job.kernel.params.items()} | dict(job.params)
    return Specialization(folder, job.kernel, implementation, job.dtype, params, job.workload.dims)


def answer(this: Specialization, arch: str) -> dict[str, Any]:
    try:
        made = cross_compile(this, arch)
    except Exception as error:
        status, message = classify(error, this.folder, this.implementation)
        return {"status": status.value, "message": message.replace(f"{this.folder}/", "")}
    return {**plain(made.compilation, made.artefacts), "launch": to_plain(made.launch)}


def cross_compile(this: Specialization, arch: str) -> CrossCompiled:
    """Compiles for `sm_90a`.  Raises CompileError in the compiler's words, whatever the file's own code raises, and
    Ended: `unsupported`, or `not_run` when something is not installed here.
    """
    _expect_possible(this.implementation, arch)
    binaries, shapes = _MAKERS[this.implementation.language](this, arch)
    made = disassemble(binaries, arch)
    if made is None:
        entries = ", ".join(f"`{entry}`" for binary in binaries for entry in binary.entries)
        raise compiling.CompileError(f"no entry {entries} in {this.implementation.file}")
    return CrossCompiled(made.compilation, _launch(shapes, made.first, arch), made.artefacts)


def _expect_possible(implementation: Implementation, arch: str) -> None:
    if not compiling.supports(arch, implementation.arch):
        raise Ended(Status.UNSUPPORTED, f"needs {implementation.arch}, this would be {arch}")
    if missing := _missing(implementation.language):
        raise Ended(Status.NOT_RUN, missing)


def _missing(language: Language) -> str:
    """What would have to be installed; empty when nothing."""
    if not cuobjdump():
        return "needs cuobjdump, of the CUDA toolkit or of Triton"
    if language is Language.TRITON:
        return "" if importlib.util.find_spec("triton") else "needs Triton (`pip install triton`)"
    if language is Language.CUDA_HOST:
        return "" if compiling.nvcc() else "a file with host code needs nvcc, of the CUDA toolkit"
    if not compiling.nvrtc_version():
        return "needs NVRTC (`pip install cuda-bindings nvidia-cuda-nvrtc nvidia-cuda-runtime`)"
    return "" if compiling.toolkit_includes() else "needs CUDA's headers (`pip install nvidia-cuda-runtime`)"


def _cuda(this: Specialization, arch: str) -> Made:
    launch = this.implementation.launch
    if launch is None:
        raise compiling.CompileError(f"{this.implementation.name} has no launch")
    names = names_of(this.dims, this.params, DTYPES[this.dtype].itemsize)
    constants = constants_of(launch.constants, names)
    geometry = geometry_of(launch, {**names, **constants})
    defines = compiling.definitions(this.dtype, constants)
    code = compiling.compile_device(this.file, launch.entry, arch, defines, this.include)
    return [code.binary(geometry.shared_bytes)], [geometry]


def _host(this: Specialization, arch: str) -> Made:
    defines = compiling.definitions(this.dtype, {})
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "code.cubin"
        flags = compiling.compile_host_device_code(this.file, cubin, arch, defines, this.include)
        return [Binary(cubin.read_bytes(), flags=flags)], []


def _triton(this: Specialization, arch: str) -> Made:
    from triton.runtime.errors import OutOfResources

    from sitegen.measure.call import implementation_subject
    from sitegen.measure.offline import stand_in_for

    stand_in = stand_in_for(arch)
    function = implementation_subject(this.folder, this.kernel, this.implementation, this.dtype, this.params)
    try:
        binaries, shapes = stand_in.kernels_of(partial(function.into, *_tensors(this), this.dims))
    except OutOfResources as error:
        raise compiling.CompileError(f"does not fit on an SM of {arch}: {error}") from error
    if not binaries:
        raise Ended(Status.NOT_RUN, "it launches no Triton kernel")
    return binaries, shapes


def _tensors(this: Specialization) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs on torch's `meta` device: shapes without memory."""
    import torch

    from sitegen.measure.inputs import dtype_of, output_dtypes, output_shapes

    names = names_of(this.dims, this.params, DTYPES[this.dtype].itemsize)
    shapes = [[evaluate_int(length, names) for length in tensor.shape] for tensor in this.kernel.inputs]
    dtypes = [dtype_of(tensor, this.dtype) for tensor in this.kernel.inputs]
    outs = zip(output_shapes(this.kernel, names), output_dtypes(this.kernel, this.dtype), strict=True)
    made = [torch.empty(s, dtype=d, device="meta") for s, d in (*zip(shapes, dtypes, strict=True), *outs)]
    return made[: len(shapes)], made[len(shapes) :]


def _launch(shapes: list[Geometry], first: Usage, arch: str) -> LaunchRecord | None:
    """As a captured call has it: the shape of the first kernel, and how many there are.  Raises CompileError when none
    of its blocks would fit on an SM.
    """
    if not shapes:
        return None
    shape, limits = shapes[0], limits_of(arch)
    shared = first.shared_bytes + shape.shared_bytes
    share = occupancy(limits, first.registers, shape.threads, shared) if limits else None
    if share == 0:
        block = f"{shape.threads} threads of {first.registers} registers and {shared} bytes of shared memory"
        raise compiling.CompileError(f"a block does not fit on an SM of {arch}: {block}")
    return LaunchRecord(shape.grid, shape.block, shape.cluster, shape.shared_bytes, len(shapes), share)


_MAKERS = {Language.CUDA: _cuda, Language.CUDA_HOST: _host, Language.TRITON: _triton}

if __name__ == "__main__":
    main(sys.argv[1:])
