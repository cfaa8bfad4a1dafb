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
    )
    kernel = Program(source, "c++", options).compile("cubin").get_kernel(launch["entry"])

    def call(*arguments, grid=launch.get("grid"), block=launch.get("block")):
        config = LaunchConfig(grid=tuple(grid), block=tuple(block), shmem_size=launch.get("shared", 0))
        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        start(stream, config, kernel, *(a.data_ptr() if torch.is_tensor(a) else a for a in arguments))

    return call
'''


def prelude(sources: Iterable[str]) -> str:
    """Return the text of the first cell, with only what these cells use; empty where they use nothing of it."""
    code = "\n".join(sources)
    uses_cuda = re.search(r"\bcuda\(", code) is not None
    imports = [
        line for name, line in IMPORTS.items() if re.search(rf"\b{name}\b", code) or (name == "torch" and uses_cuda)
    ]
    return "\n".join([*imports, *(["", CUDA] if uses_cuda else [])]).strip()
