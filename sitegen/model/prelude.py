"""The sources of a post's cells → the first cell of its notebook: the imports and the function `cuda` that they use.

The cell is shown folded.  Its text needs nothing of this program, so the downloaded notebook runs without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IMPORTS = {"torch": "import torch", "triton": "import triton", "tl": "import triton.language as tl"}

CUDA = '''
def cuda(source, launch):
    """CUDA C++ compiled by NVRTC; call the result with tensors, ints (long long) and floats (double)."""
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream
    from cuda.core import launch as start

    torch.cuda.init()
    Device(torch.cuda.current_device()).set_current()
    major, minor = torch.cuda.get_device_capability()
    macros = {"DTYPE": "float", **launch.get("constants", {})}
    options = ProgramOptions(
        arch=f"sm_{major}{minor}{'a' if major >= 9 else ''}",
        std="c++17",
        define_macro=[(name, str(value)) for name, value in macros.items()],
        **header_options(source),
    )
    kernel = Program(source, "c++", options).compile("cubin").get_kernel(launch["entry"])

    def call(*arguments, grid=launch.get("grid"), block=launch.get("block")):
        config = LaunchConfig(grid=tuple(grid), block=tuple(block), shmem_size=launch.get("shared", 0))
        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        start(stream, config, kernel, *(a.data_ptr() if torch.is_tensor(a) else a for a in arguments))

    return call
'''

_OPTIONS = "        **header_options(source),\n"

CUTE = '''
def header_options(source):
    """Return the options of NVRTC for a source that includes CuTe: pip install --no-deps nvidia-cutlass==4.2.0.0"""
    if "#include <cute/" not in source:
        return {}
    from importlib.util import find_spec
    from pathlib import Path
    from cuda.pathfinder import find_nvidia_header_directory

    def folders(package, pattern):
        places = find_spec(package).submodule_search_locations if find_spec(package) else []
        return [folder for place in places for folder in Path(place).glob(pattern)]

    cutlass = folders("cutlass_library", "source/include")
    places = [*folders("nvidia", "*/include"), Path("/usr/local/cuda/include")]
    cccl = [folder for folder in places if (folder / "cccl/cuda/std").is_dir()]
    if not cutlass or not cccl:
        package = "nvidia-cuda-cccl==13.0.85" if cutlass else "nvidia-cutlass==4.2.0.0"
        raise ModuleNotFoundError(f"the source includes CuTe: pip install --no-deps {package}")
    headers = [find_nvidia_header_directory("cudart"), cutlass[0], cccl[0], cccl[0] / "cccl"]
    return {"include_path": [str(one) for one in headers if one], "device_as_default_execution_space": True}
'''
"""What a cell that includes CuTe needs besides CUDA: the folders of its headers, and functions that are device code."""


def prelude(sources: Iterable[str]) -> str:
    """Return the text of the first cell, with only what these cells use; empty where they use nothing of it."""
    code = "\n".join(sources)
    uses_cuda = re.search(r"\bcuda\(", code) is not None
    uses_cute = "#include <cute/" in code
    imports = [
        line for name, line in IMPORTS.items() if re.search(rf"\b{name}\b", code) or (name == "torch" and uses_cuda)
    ]
    functions = [CUTE.rstrip(), "", CUDA] if uses_cute else [CUDA.replace(_OPTIONS, "")]
    return "\n".join([*imports, *(["", *functions] if uses_cuda else [])]).strip()
