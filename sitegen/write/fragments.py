"""The HTML of texts, kept from build to build: appended to few large files, read one by one when a page needs it.

A reference says where a fragment stands and what it must look like; one that does not is as good as lost, and the
text is parsed again.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

Reference = tuple[str, int, int, int]
"""Name of the file, offset and length in bytes, CRC-32."""


class LostFragmentError(Exception):
    """Nothing that a reference could mean is there."""


class Shelf:
    """The files of a folder.  Several processes may append, each to a file of its own name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: dict[str, int] = {}

    def put(self, name: str, html: str) -> Reference:
        """Append to the file of that name."""
        data, opened = html.encode(), self._open(name)
        offset = os.lseek(opened, 0, os.SEEK_END)
        written = 0
        while written < len(data):
            written += os.write(opened, memoryview(data)[written:])
        return name, offset, len(data), zlib.crc32(data)

    def get(self, reference: Reference) -> str:
        """Raises LostFragmentError."""
        name, offset, length, crc = reference
        try:
            data = os.pread(self._open(name), length, offset)
        except OSError as error:
            raise LostFragmentError(name) from error
        if len(data) != length or zlib.crc32(data) != crc:
            raise LostFragmentError(name)
        return data.decode()

    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self._folder.glob("*.html"))

    def clear(self) -> None:
        """Forget everything."""
        self.close()
        for path in self._folder.glob("*.html"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Before a fork: a process and its child must not share a place in a file."""
        for opened in self._opened.values():
            os.close(opened)
        self._opened.clear()

    def _open(self, name: str) -> int:
        if name not in self._opened:
            self._folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._opened[name] = os.open(self._folder / f"{name}.html", flags, 0o644)
        return self._opened[name]
