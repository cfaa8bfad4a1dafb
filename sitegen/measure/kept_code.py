"""Cubins and PTX of NVRTC, kept between the processes and the jobs of a machine.

A job compiles the same code in several processes, and jobs of other workloads often compile it again.  Code is kept
under the hash of everything that it depends on: the compiler, the flags, the file, and every local file that it may
include.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

KEPT_CODE = "SITEGEN_KEPT_CODE"
"""Name of the variable with the folder; without it nothing is kept."""
_INCLUDED = (".cu", ".cuh", ".h", ".hpp", ".inc")
_LENGTH = 8
"""Bytes that hold the length of the cubin, before the cubin and the PTX."""


def kept_file(file: Path, flags: Sequence[str], include: Sequence[Path]) -> Path | None:
    """Return where the code of this compilation is kept; None where nothing is kept."""
    folder = os.environ.get(KEPT_CODE)
    if not folder:
        return None
    digest = hashlib.sha256(repr((_compiler(), list(flags), file.name)).encode())
    for part in (file.read_bytes(), *_local_files(include)):
        digest.update(hashlib.sha256(part).digest())
    return Path(folder) / digest.hexdigest()


def read_kept(kept: Path | None) -> tuple[bytes, bytes] | None:
    """Return the cubin and the PTX; None where they are not kept, or not whole."""
    if kept is None or not kept.exists():
        return None
    data = kept.read_bytes()
    length = int.from_bytes(data[:_LENGTH], "little")
    cubin, ptx = data[_LENGTH : _LENGTH + length], data[_LENGTH + length :]
    return (cubin, ptx) if cubin and len(cubin) == length and ptx else None


def keep(kept: Path | None, cubin: bytes, ptx: bytes) -> None:
    """Keep the code, unless it is kept already; another process or thread sees the whole file or none."""
    if kept is None or kept.exists():
        return
    part = kept.with_name(f"{kept.name}.{os.getpid()}-{threading.get_ident()}")
    with contextlib.suppress(OSError):  # a folder that cannot be written costs time only
        kept.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(len(cubin).to_bytes(_LENGTH, "little") + cubin + ptx)
        part.replace(kept)


def _compiler() -> str:
    from cuda.bindings import nvrtc

    return repr((nvrtc.nvrtcVersion(), nvrtc.__file__))


def _local_files(include: Sequence[Path]) -> Iterator[bytes]:
    """Yield the path and the content of every file below the folders that code may include."""
    for folder in include:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _INCLUDED):
            yield path.relative_to(folder).as_posix().encode()
            yield path.read_bytes()
