"""Scan folders for the sizes and times of their files, which tell that nothing changed without opening a file."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from sitegen import inside
from sitegen.read.notebook import NOTEBOOK, file_bytes, image_names

Signature = tuple[int, int, int, int]
"""Size in bytes, times of modification and of change of the entry in ns, inode."""
IGNORED = frozenset({".git", ".sitegen", ".venv", "public", "node_modules", "__pycache__"})
"""Names of folders that hold no files of a site."""
LINKED_FOLDER: Signature = (-2, 0, 0, 0)
"""Signature of a link to a folder, and of a room that is a link: its files are not listed."""
_GONE: Signature = (-1, 0, 0, 0)
_UNREADABLE = bytes(12)
"""First bytes of the digest of a file that cannot be read."""
_TICK_NS = 50_000_000
"""More than the granularity of a file's times: within it, a second change of a file may leave them as they are."""


def scan(root: Path, rooms: Iterable[str]) -> dict[str, Signature]:
    """Return the signatures of the files in folders of `root`, by path: the files of a folder, then its folders."""
    signatures: dict[str, Signature] = {}
    for room in rooms:
        if (root / room).is_symlink():
            signatures[room] = LINKED_FOLDER
        else:
            signatures.update(
                (path, _signature(entry)) for path, entry in inside.entries_below(root, room, _is_ignored)
            )
    return signatures | _images_of_notebooks(root, signatures)


def _images_of_notebooks(root: Path, signatures: dict[str, Signature]) -> dict[str, Signature]:
    """Return the signature of each image within a notebook that is a post, which is that of the notebook."""
    images: dict[str, Signature] = {}
    for path, signature in signatures.items():
        if path.endswith("/index.ipynb") and NOTEBOOK.fullmatch(path):
            with contextlib.suppress(OSError):
                names = image_names(inside.read_bytes(root, path).decode("utf-8", "replace"))
                images |= {f"{path.rpartition('/')[0]}/{name}": signature for name in names}
    return {path: signature for path, signature in images.items() if path not in signatures}


def is_settled(signature: Signature, now_ns: int | None = None) -> bool:
    """Tell whether a file with this signature surely gets another one when it changes from now on."""
    return max(signature[1], signature[2]) < (now_ns or time.time_ns()) - _TICK_NS


def signature_of(about: os.stat_result) -> Signature:
    """Return the signature of a file."""
    if stat.S_ISDIR(about.st_mode):
        return LINKED_FOLDER
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def digest_of(data: bytes | OSError) -> bytes:
    """Return the digest of a file's content, or of the reason why it cannot be read."""
    if isinstance(data, OSError):
        return _UNREADABLE + (data.errno or 0).to_bytes(4, "big")
    return blake2b(data, digest_size=16).digest()


def digest_file(root: Path, path: str) -> bytes:
    """Return the digest of a file, as `digest_of` makes it."""
    try:
        return digest_of(file_bytes(root, path))
    except OSError as error:
        return digest_of(error)


def could_be_read(digest: bytes) -> bool:
    """Tell whether a digest of `digest_of` is that of a content."""
    return not digest.startswith(_UNREADABLE)


def _is_ignored(folder: str) -> bool:
    return folder.rpartition("/")[2] in IGNORED


def _signature(entry: os.DirEntry[str]) -> Signature:
    try:
        return signature_of(entry.stat())
    except OSError:  # a link to nowhere
        return _GONE
