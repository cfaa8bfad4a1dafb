"""Store the HTML of texts from build to build, in few large files from which single fragments are read.

A reference has the place and the checksum of a fragment.  When the checksum differs, the fragment is lost, and the
text is parsed again.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

FragmentReference = tuple[str, int, int, int]
"""Name of the file, offset and length in bytes, CRC-32."""


class LostFragmentError(Exception):
    """There is no fragment at the place of a reference, or it is damaged."""


class FragmentFiles:
    """The fragment files of a folder.  Several processes may append, each to a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: dict[str, int] = {}

    def put(self, name: str, html: str) -> FragmentReference:
        """Append a fragment to the file with a name, and return its reference."""
        data, opened = html.encode(), self._open(name)
        offset = os.lseek(opened, 0, os.SEEK_END)
        written = 0
        while written < len(data):
            written += os.write(opened, memoryview(data)[written:])
        return name, offset, len(data), zlib.crc32(data)

    def get(self, reference: FragmentReference) -> str:
        """Return a fragment.  Raises LostFragmentError."""
        name, offset, length, crc = reference
        try:
            data = os.pread(self._open(name), length, offset)
        except OSError as error:
            raise LostFragmentError(name) from error
        if len(data) != length or zlib.crc32(data) != crc:
            raise LostFragmentError(name)
        return data.decode()

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(path.stat().st_size for path in self._folder.glob("*.html"))

    def clear(self) -> None:
        """Remove all fragments."""
        self.close()
        for path in self._folder.glob("*.html"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files.  It must be called before a fork: a process and its child would share the file offset."""
        for opened in self._opened.values():
            os.close(opened)
        self._opened.clear()

    def _open(self, name: str) -> int:
        if name not in self._opened:
            self._folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._opened[name] = os.open(self._folder / f"{name}.html", flags, 0o644)
        return self._opened[name]
