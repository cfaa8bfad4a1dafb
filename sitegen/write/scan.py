"""A folder → what the system says of each file in it: enough to know that nothing changed without opening one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

Signature = tuple[int, int, int, int]
"""Size, when it was modified and when its entry changed (ns), inode."""
IGNORED = frozenset({".git", ".sitegen", ".venv", "public", "node_modules", "__pycache__"})
"""Folders in which nothing of a site stands."""
_GONE: Signature = (-1, 0, 0, 0)
_TICK_NS = 50_000_000
"""More than the granularity of a file's times: within it, a second change of a file may leave them as they are."""


def scan(root: Path, rooms: Iterable[str]) -> dict[str, Signature]:
    """The files in some folders of `root`, by path from it: of each folder its files by name, then its folders."""
    found: dict[str, Signature] = {}
    for room in rooms:
        if (root / room).is_dir():
            found.update(_files(os.fspath(root / room), room))
    return found


def settled(signature: Signature, now_ns: int | None = None) -> bool:
    """Whether a file with that signature is sure to get another one when it changes from now on."""
    return max(signature[1], signature[2]) < (now_ns or time.time_ns()) - _TICK_NS


def signature_of(stat: os.stat_result) -> Signature:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def digest_of(data: bytes | OSError) -> bytes:
    """Of a file's content, or of the reason why it cannot be read."""
    return blake2b(data if isinstance(data, bytes) else str(data.errno).encode(), digest_size=16).digest()


def digest_file(path: Path) -> bytes:
    try:
        return digest_of(path.read_bytes())
    except OSError as error:
        return digest_of(error)


def _files(folder: str, path: str) -> Iterator[tuple[str, Signature]]:
    """Links to folders are not followed, as `text_files` does not."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir():
                if entry.name not in IGNORED and not entry.is_symlink():
                    folders.append(entry)
            else:
                yield f"{path}/{entry.name}", _signature(entry)
    for entry in folders:
        yield from _files(entry.path, f"{path}/{entry.name}")


def _signature(entry: os.DirEntry[str]) -> Signature:
    try:
        return signature_of(entry.stat())
    except OSError:  # a link to nowhere
        return _GONE
