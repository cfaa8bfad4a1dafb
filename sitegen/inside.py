"""Open, list, write and remove files by a path below a folder, and never anything outside of that folder.

A repository may bring links, and a record, a result or a manifest may bring paths.  Every room opens what such a path
names through the functions here.  A path has forward slashes and is relative to the folder, which is called its root.

Reading follows a link only to a regular file below the same root that is not hidden.  Writing and removing follow no
link at all below the root.  The root itself is chosen by the user and may be reached through links.
"""
# A Path costs several times as much, and these functions run for thousands of files.
# ruff: noqa: PTH102, PTH103, PTH105, PTH108, PTH112, PTH114

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

LARGEST_FILE_BYTES = 256 * 1024 * 1024
"""A file above this size is refused: no text, image or record of a site comes near it."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OutsideError(OSError):
    """A path or a link leads out of its root, or to something that is not a regular file.

    The subclass of OSError lets callers report it like any file that cannot be opened: `strerror` says what is wrong.
    """


def checked(path: str) -> str:
    """Return the path itself.  Raises OutsideError when it is absolute, empty, or has a part `.` or `..`."""
    if not {"", ".", ".."}.isdisjoint(path.split("/")) or "\0" in path:
        raise _refused("the path leads out of its folder", path)
    return path


def read_bytes(root: str | Path, path: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
    """Return the content of a file.  Raises OSError, which is an OutsideError when the path leads out of the root."""
    with os.fdopen(_open_to_read(os.fspath(root), path), "rb") as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise _refused(f"the file is larger than {limit // 2**20} MiB", path)
        return file.read()


def is_file(root: str | Path, path: str) -> bool:
    """Return whether `read_bytes` would open this file."""
    try:
        os.close(_open_to_read(os.fspath(root), path))
    except OSError:
        return False
    return True


def files_below(root: str | Path, folder: str = "") -> Iterator[str]:
    """Yield the path of each file and each link below a folder, folder by folder in the order of their names.

    Links to folders are listed, not entered.  A folder that is missing or a link has no files.
    """
    here = f"{os.fspath(root)}/{folder}" if folder else os.fspath(root)
    if folder and (not os.path.isdir(here) or _has_link(os.fspath(root), checked(folder))):
        return
    for place, folders, names in os.walk(here):
        above = os.path.relpath(place, root)
        links = [name for name in folders if os.path.islink(f"{place}/{name}")]
        folders[:] = sorted(set(folders).difference(links))
        for name in sorted([*names, *links]):
            yield name if above == "." else f"{above}/{name}"


def write_bytes(root: str | Path, path: str, data: bytes) -> None:
    """Write a file whole: a reader sees the old content or the new one.  Makes the folders that it needs.

    Raises OutsideError when one of these folders is a link.
    """
    base = os.fspath(root)
    make_folder(base, checked(path).rpartition("/")[0])
    folder, _, name = f"{base}/{path}".rpartition("/")
    beside = f"{folder}/.{name}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)  # left by a process of the same number that was killed
    with os.fdopen(os.open(beside, _CREATE, 0o666), "wb") as file:
        file.write(data)
    os.replace(beside, f"{base}/{path}")


def make_folder(root: str | Path, path: str) -> None:
    """Make a folder and those above it.  Raises OutsideError when one of them is a link."""
    base = os.fspath(root)
    os.makedirs(base, exist_ok=True)
    for folder in _from_the_top(path):
        with contextlib.suppress(FileExistsError):
            os.mkdir(f"{base}/{folder}")
        _refuse_link(base, folder)


def remove(root: str | Path, path: str) -> None:
    """Remove a file or a link, never what the link leads to.  Raises OutsideError when a folder above it is a link."""
    base = os.fspath(root)
    refuse_links_above(base, path)
    os.unlink(f"{base}/{path}")


def refuse_links_above(root: str | Path, path: str) -> None:
    """Raise OutsideError when one of the folders between the root and the path is a link, or the path is not below."""
    base = os.fspath(root)
    for folder in _from_the_top(checked(path).rpartition("/")[0]):
        _refuse_link(base, folder)


def _open_to_read(root: str, path: str) -> int:
    """Return a descriptor of a regular file."""
    found = f"{root}/{path}"
    if _has_link(root, checked(path)):
        found = _target(root, path)
    opened = os.open(found, _READ)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    if os.path.isdir(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise _refused("it is not a regular file", path)


def _has_link(root: str, path: str) -> bool:
    return any(os.path.islink(f"{root}/{part}") for part in _from_the_top(path))


def _target(root: str, path: str) -> str:
    """Return the file that a link below the root leads to, when that is below the root too and not hidden."""
    base, found = os.path.realpath(root), os.path.realpath(f"{root}/{path}")
    inside = os.path.relpath(found, base)
    if inside.startswith("..") or any(part.startswith(".") for part in inside.split("/")):
        raise _refused("it is a link that leads out of the site", path)
    return found


def _from_the_top(path: str) -> Iterator[str]:
    """Yield `a`, `a/b` and `a/b/c` of `a/b/c`; nothing of the empty path."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    if path:
        yield path


def _refuse_link(root: str, path: str) -> None:
    if os.path.islink(f"{root}/{path}"):
        raise _refused("it is a link, and sitegen writes through no link", path)


def _refused(message: str, path: str) -> OutsideError:
    return OutsideError(errno.EPERM, message, path)
