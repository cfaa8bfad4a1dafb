"""Find the headers of CuTe that a file needs."""

import importlib.util
import sys
from pathlib import Path


def cutlass_headers(text: str) -> list[Path]:
    """Return the folders of the headers of CuTe and of CCCL, none for a text that includes no CuTe; end the program
    where they are not installed."""
    if "#include <cute/" not in text:
        return []
    cutlass = _folders_of("cutlass_library", "source/include")
    places = [*_folders_of("nvidia", "*/include"), Path("/usr/local/cuda/include")]
    cccl = [folder for folder in places if (folder / "cccl/cuda/std").is_dir()]
    if not cutlass or not cccl:
        package = "nvidia-cuda-cccl==13.0.85" if cutlass else "nvidia-cutlass==4.2.0.0"
        print(f"It includes CuTe: pip install --no-deps {package}")
        sys.exit(2)
    return [cutlass[0], cccl[0], cccl[0] / "cccl"]


def _folders_of(package: str, pattern: str) -> list[Path]:
    """Return the folders below a package that fit a pattern; the package is not imported."""
    found = importlib.util.find_spec(package)
    places = (found.submodule_search_locations or ()) if found else ()
    return [folder for place in places for folder in sorted(Path(place).glob(pattern))]
