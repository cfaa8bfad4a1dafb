"""A folder → what the system says of each file in it: enough to know that nothing changed without opening one."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from sitegen import inside

Signature = tuple[int, int, int, int]
"""Size, when it was modified and when its entry changed (ns), inode."""
IGNORED = frozenset({".git", ".sitegen", ".venv", "public", "node_modules", "__pycache__"})
"""Folders in which nothing of a site stands."""
LINKED_FOLDER: Signature = (-2, 0, 0, 0)
"""Of a link to a folder, and of a room that is a link: no file in it is listed."""
_GONE: Signature = (-1, 0, 0, 0)
_UNREADABLE = bytes(12)
"""How the digest of a file begins that cannot be read."""
_TICK_NS = 50_000_000
"""More than the granularity of a file's times: within it, a second change of a file may leave them as they are."""


def scan(root: Path, rooms: Iterable[str]) -> dict[str, Signature]:
    """The files in some folders of `root`, by path from it: of each folder its files by name, then its folders."""
    found: dict[str, Signature] = {}
    for room in rooms:
        if (root / room).is_symlink():
            found[room] = LINKED_FOLDER
        else:
            found.update((path, _signature(entry)) for path, entry in inside.entries_below(root, room, _is_ignored))
    return found


def settled(signature: Signature, now_ns: int | None = None) -> bool:
    """Whether a file with that signature is sure to get another one when it changes from now on."""
    return max(signature[1], signature[2]) < (now_ns or time.time_ns()) - _TICK_NS


def signature_of(about: os.stat_result) -> Signature:
    if stat.S_ISDIR(about.st_mode):
        return LINKED_FOLDER
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def digest_of(data: bytes | OSError) -> bytes:
    """Of a file's content, or of the reason why it cannot be read."""
    if isinstance(data, OSError):
        return _UNREADABLE + (data.errno or 0).to_bytes(4, "big")
    return blake2b(data, digest_size=16).digest()


def digest_file(root: Path, path: str) -> bytes:
    try:
        return digest_of(inside.read_bytes(root, path))
    except OSError as error:
        return digest_of(error)


def could_be_read(digest: bytes) -> bool:
    """Whether the digest is that of a content, as `digest_of` makes it."""
    return not digest.startswith(_UNREADABLE)


def _is_ignored(folder: str) -> bool:
    return folder.rpartition("/")[2] in IGNORED


def _signature(entry: os.DirEntry[str]) -> Signature:
    try:
        return signature_of(entry.stat())
    except OSError:  # a link to nowhere
        return _GONE
