"""A job's sources → files in a fresh folder, and Python modules loaded from there."""

from __future__ import annotations

import errno
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from sitegen import inside
from sitegen.model.kernel import Implementation, Kernel, Language

_SUFFIX = {Language.TRITON: "py", Language.CUDA: "cu", Language.CUDA_HOST: "cu"}


def write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    """Write each text to its path below `folder`.  Raises OutsideError for a path that leaves the folder."""
    for path, text in sources.items():
        inside.write_bytes(folder, path, text.encode())


def source_file(folder: Path, kernel: Kernel, implementation: Implementation) -> Path:
    """Return where the implementation's text lies; that of a cell is written there first.

    What another process may be reading is not written again.  Raises OutsideError for a name that leaves the folder.
    """
    if not implementation.source:
        return folder / inside.checked(implementation.file)
    name = f"_cell_{implementation.name}.{_SUFFIX[implementation.language]}"
    path = f"kernels/{inside.checked(kernel.name)}/{inside.checked(name)}"
    if path.count("/") > 2:
        raise inside.OutsideError(errno.EPERM, "the name of a kernel or an implementation is a path", path)
    file = folder / path
    if not file.exists() or file.read_text(encoding="utf-8") != implementation.source:
        inside.write_bytes(folder, path, implementation.source.encode())
    return file


def load_module(folder: Path, file: Path) -> ModuleType:
    """Return the module of a file below `folder`, under the name that `import` would give it there.  Raises
    ImportError."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    name = ".".join(file.relative_to(folder).with_suffix("").parts)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
