"""Open, list, lock, write and remove files by a path below a folder, and never anything outside of that folder.

A repository may bring links, and a record, a result or a manifest may bring paths.  Every room opens what such a path
names through the functions here.  A path has forward slashes and is relative to the folder, which is called its root.

Reading follows a link only to a regular file below the same root that is not hidden.  Writing and removing follow no
link at all below the root.  The root itself is chosen by the user and may be reached through links.
"""
# A Path costs several times as much, and these functions run for thousands of files.
# ruff: noqa: PTH102, PTH103, PTH105, PTH106, PTH108, PTH112, PTH114

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
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
    with os.fdopen(_open_to_read(os.fspath(root), path, limit), "rb") as file:
        return file.read()


def read_start(root: str | Path, path: str, size: int) -> bytes:
    """Return the first `size` bytes of a file.  Raises OSError as `read_bytes` does."""
    with os.fdopen(_open_to_read(os.fspath(root), path), "rb") as file:
        return file.read(size)


def resolved(root: str | Path, path: str) -> Path:
    """Return where the file is that `read_bytes` opens, with no link below the root.  Raises OSError as it does."""
    os.close(_open_to_read(os.fspath(root), path))
    return Path(_real_path(os.fspath(root), path))


def is_file(root: str | Path, path: str) -> bool:
    """Return whether `read_bytes` would open this file."""
    try:
        resolved(root, path)
    except OSError:
        return False
    return True


def is_hidden(path: str) -> bool:
    """Return whether the name of the file or of a folder above it begins with a dot."""
    return "/." in f"/{path}"


def entries_below(
    root: str | Path, folder: str = "", skips: Callable[[str], bool] = lambda path: False
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the path and the entry of each file and each link, sorted: the files of a folder, then its folders.

    Links to folders are listed, not entered.  A folder that is missing or a link has no files.  `skips` is asked about
    the path of each folder.
    """
    base = os.fspath(root)
    here = f"{base}/{folder}" if folder else base
    if not os.path.isdir(here) or (folder and _has_link(base, checked(folder))):
        return
    yield from _entries(here, f"{folder}/" if folder else "", skips)


def files_below(root: str | Path, folder: str = "") -> Iterator[str]:
    """Yield the path of each file and each link below a folder, in the order of `entries_below`."""
    return (path for path, _ in entries_below(root, folder))


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
    try:
        with os.fdopen(os.open(beside, _CREATE, 0o666), "wb") as file:
            file.write(data)
        os.replace(beside, f"{base}/{path}")
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def move(root: str | Path, source: str, path: str, known: set[str]) -> None:
    """Rename a file below the root.  Makes the folders that it needs, as `make_folder` does."""
    make_folder(root, checked(path).rpartition("/")[0], known)
    base = os.fspath(root)
    os.replace(f"{base}/{source}", f"{base}/{path}")


def make_folder(root: str | Path, path: str, known: set[str] | None = None) -> None:
    """Make a folder and those above it.  Raises OutsideError when one of them is a link.

    `known` collects the folders that are no links, so that many files of a folder ask only once.
    """
    known = set() if known is None else known
    if path in known:
        return
    base = os.fspath(root)
    if not known:
        os.makedirs(base, exist_ok=True)
    for folder in _from_the_top(path):
        if folder not in known:
            try:
                os.mkdir(f"{base}/{folder}")
            except FileExistsError:
                _refuse_link(base, folder)
            known.add(folder)


@contextlib.contextmanager
def locked_folder(root: str | Path, path: str) -> Iterator[None]:
    """Hold the lock of a folder, which is made where it is missing, after waiting for other processes.

    The folder itself is locked, so no file of a lock is left.  Raises OSError when it, or one above it, is a link.
    """
    make_folder(root, checked(path))
    opened = os.open(f"{os.fspath(root)}/{path}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def make_new_folder(root: str | Path, path: str) -> None:
    """Make a folder in which there is nothing yet.  Raises FileExistsError when something stands there."""
    base = os.fspath(root)
    make_folder(base, checked(path).rpartition("/")[0])
    os.makedirs(base, exist_ok=True)
    os.mkdir(f"{base}/{path}")


def remove(root: str | Path, path: str) -> None:
    """Remove a file or a link, never what the link leads to.  Raises OutsideError when a folder above it is a link."""
    base = os.fspath(root)
    refuse_links_above(base, path)
    os.unlink(f"{base}/{path}")


def remove_if_empty(root: str | Path, folder: str) -> bool:
    """Remove a folder when it is empty, and return whether it was.  Raises OutsideError as `remove` does."""
    base = os.fspath(root)
    refuse_links_above(base, f"{folder}/any")
    with os.scandir(f"{base}/{folder}") as entries:
        if any(True for _ in entries):
            return False
    os.rmdir(f"{base}/{folder}")
    return True


def remove_tree(root: str | Path, path: str) -> None:
    """Remove a folder with its content, or the link that stands in its place; do nothing when neither exists."""
    base = os.fspath(root)
    refuse_links_above(base, path)
    if os.path.islink(f"{base}/{path}"):
        os.unlink(f"{base}/{path}")
    else:
        shutil.rmtree(f"{base}/{path}", ignore_errors=True)


def refuse_links_above(root: str | Path, path: str, known: set[str] | None = None) -> None:
    """Raise OutsideError when one of the folders between the root and the path is a link, or the path is not below.

    `known` collects the folders that are no links, as for `make_folder`.
    """
    base, above = os.fspath(root), checked(path).rpartition("/")[0]
    if known is not None and above in known:
        return
    known = set() if known is None else known
    for folder in _from_the_top(above):
        if folder not in known:
            _refuse_link(base, folder)
            known.add(folder)


def _entries(here: str, above: str, skips: Callable[[str], bool]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the entries of the folder `here`; `above` is its path below the root with a slash, or empty."""
    waiting = [(here, above)]  # no recursion: an archive can bring thousands of folders in each other
    while waiting:
        here, above = waiting.pop()
        folders = []
        with os.scandir(here) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = above + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    yield path, entry
                elif not skips(path):
                    folders.append((entry.path, f"{path}/"))
        waiting += reversed(folders)


def _open_to_read(root: str, path: str, limit: int = LARGEST_FILE_BYTES) -> int:
    """Return a descriptor of a regular file of at most `limit` bytes.  Raises OSError as `read_bytes` does."""
    real_path = _real_path(root, path)
    opened = os.open(real_path, _READ)
    about = os.fstat(opened)
    if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
        return opened
    os.close(opened)
    if stat.S_ISREG(about.st_mode):
        raise _refused(f"the file is larger than {limit // 2**20} MiB", path)
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise _refused("it is not a regular file", path)


def _real_path(root: str, path: str) -> str:
    """Return the path of a file on the machine, with links below the root resolved."""
    return _target(root, path) if _has_link(root, checked(path)) else f"{root}/{path}"


def _has_link(root: str, path: str) -> bool:
    return any(os.path.islink(f"{root}/{part}") for part in _from_the_top(path))


def _target(root: str, path: str) -> str:
    """Return the target of a link below the root.  Raises OutsideError when it is outside of the root or hidden."""
    base, target = os.path.realpath(root), os.path.realpath(f"{root}/{path}")
    inside = os.path.relpath(target, base)
    if inside.startswith("..") or any(part.startswith(".") for part in inside.split("/")):
        raise _refused("it is a link that leads out of the site", path)
    return target


def _from_the_top(path: str) -> Iterator[str]:
    """Yield `a`, `a/b` and `a/b/c` for `a/b/c`; nothing for the empty path."""
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
