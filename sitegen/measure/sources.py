"""A job's sources → files in a fresh folder, and Python modules loaded from there."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import ModuleType

from sitegen.model.kernel import Implementation, Kernel, Language

_SUFFIX = {Language.TRITON: "py", Language.CUDA: "cu", Language.CUDA_HOST: "cu"}


def write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    """Writes each text to its path below `folder`.  Raises ValueError for a path that leaves the folder."""
    for path, text in sources.items():
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts:
            raise ValueError(f"a source's path must stay within the site: {path!r}")
        file = folder.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def source_file(folder: Path, kernel: Kernel, implementation: Implementation) -> Path:
    """Where the implementation's text lies; that of a cell is written there first.  What another process
    may be reading is not written again."""
    if not implementation.source:
        return folder / implementation.file
    file = folder / "kernels" / kernel.name / f"_cell_{implementation.name}.{_SUFFIX[implementation.language]}"
    if not file.exists() or file.read_text(encoding="utf-8") != implementation.source:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(implementation.source, encoding="utf-8")
    return file


def load_module(folder: Path, file: Path) -> ModuleType:
    """The module of a file below `folder`, under the name that `import` would give it there."""
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
