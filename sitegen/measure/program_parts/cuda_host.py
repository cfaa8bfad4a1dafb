"""Compile CUDA C++ with host code by nvcc, and call it through ctypes."""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch


def host_call(
    sources: Mapping[str, str],
    path: str,
    function: str,
    types: Mapping[str, str],
    dims: Sequence[str],
    params: Sequence[str],
    headers_of: Callable[[str], list[Path]],
) -> Any:
    """Return a Call of `int f(void** buffers, const int64_t* dims, const double* params, void* stream)`.

    It stands in the file `path` among the sources; `types` are the C++ types of the dtypes, and `headers_of` returns
    the folders of the headers of CuTe that a text needs.
    """
    folder = Path(tempfile.mkdtemp())
    for name, text in sources.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    built: dict[str, Any] = {}

    def call(inputs: Mapping[str, Any], outs: Sequence[Any], names: Mapping[str, Any], dtype: str) -> Sequence[Any]:
        if dtype not in built:
            include = [folder, *headers_of(sources[path])]
            built[dtype] = _built(folder / path, include, function, types[dtype])
        tensors = (*inputs.values(), *outs)
        buffers = (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))
        sizes = (ctypes.c_int64 * len(dims))(*(names[name] for name in dims))
        numbers = (ctypes.c_double * max(1, len(params)))(*(float(names[name]) for name in params))
        code = built[dtype](buffers, sizes, numbers, torch.cuda.current_stream().cuda_stream)
        if code != 0:
            raise RuntimeError(f"{function} returned {code}")
        return outs

    return call


def _built(file: Path, include: Sequence[Path], function: str, type_name: str) -> Any:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("It needs nvcc of the CUDA toolkit, which is not installed here.")
        sys.exit(2)
    major, minor = torch.cuda.get_device_capability()
    number = f"{major}{minor}{'a' if major >= 9 else ''}"
    library = include[0] / f"{function}_{type_name}.so"
    flags = ["-std=c++17", "-O3", f"-gencode=arch=compute_{number},code=sm_{number}", f"-DDTYPE={type_name}"]
    folders = [f"-I{one}" for one in (file.parent, *include)]
    command = [nvcc, "-shared", "-Xcompiler", "-fPIC", *flags, *folders, str(file), "-o", str(library), "-lcuda"]
    subprocess.run(command, check=True)
    built = getattr(ctypes.CDLL(str(library)), function)
    built.argtypes, built.restype = [ctypes.c_void_p] * 4, ctypes.c_int
    return built
