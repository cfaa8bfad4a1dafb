"""The text of a .cu file → the folders of the headers that it needs when it includes CuTe or CUTLASS.

The headers come with the package nvidia-cutlass.  It is searched for and not imported, so its own dependencies may be
absent.  They include headers of CCCL, of the CUDA toolkit or of the package nvidia-cuda-cccl.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

TOOLKIT = Path("/usr/local/cuda")
_CUTLASS = "it includes CuTe, whose headers are not installed here: pip install --no-deps nvidia-cutlass==4.2.0.0"
_CCCL = "it includes CuTe, which needs the headers of CCCL 13.0: pip install nvidia-cuda-cccl==13.0.85"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:cute|cutlass)/", re.MULTILINE)


def needs_cutlass(text: str) -> bool:
    """Return whether the text includes a header of CuTe or of CUTLASS; what its own headers include does not count."""
    return _INCLUDE.search(text) is not None


def missing_headers(text: str) -> str:
    """Return what to install so that the text compiles; empty when no header of CUTLASS is missing."""
    if not needs_cutlass(text):
        return ""
    if not _cutlass():
        return _CUTLASS
    return "" if _cccl() else _CCCL


def header_folders(text: str) -> list[Path]:
    """Return the folders to search for the headers of CUTLASS and CCCL; none for a text that includes no CUTLASS."""
    cutlass, cccl = _cutlass(), _cccl()
    return [cutlass, cccl, cccl / "cccl"] if needs_cutlass(text) and cutlass and cccl else []


def _cutlass() -> Path | None:
    return next(_folders_of("cutlass_library", "source/include"), None)


def _cccl() -> Path | None:
    """Return the folder that holds the folder `cccl`: CUTLASS includes `cccl/cuda/std/…` and `cuda/std/…`."""
    folders = [*_folders_of("nvidia", "*/include"), TOOLKIT / "include"]
    return next((folder for folder in folders if (folder / "cccl/cuda/std").is_dir()), None)


def _folders_of(package: str, pattern: str) -> Iterator[Path]:
    """Yield the folders below a package that fit a pattern; the package is not imported."""
    found = importlib.util.find_spec(package)
    for place in (found.submodule_search_locations or ()) if found else ():
        yield from sorted(Path(place).glob(pattern))
