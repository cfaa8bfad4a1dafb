"""Find the folder of a site's build cache, and that of compiled templates, in the cache of the user.

The files in these folders are trusted: code is loaded from them, and `marshal` reads them.  So they are the user's and
never in a site, which somebody else may have written: they are in `sitegen` below `$XDG_CACHE_HOME` or `~/.cache`.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from sitegen.write.output import OutputError
from sitegen.write.user_folders import cache_folder

_KEPT_S = 30 * 24 * 3600
_DAY_S = 24 * 3600
_SITE = "site"
"""The file in the cache of a site that holds the path of the site."""
_HINT = "set XDG_CACHE_HOME to a folder of your own, outside of the site"


def cache_of_site(root: Path) -> Path:
    """Return the folder for the cache of this user's builds of the site at `root`.

    Raises OutputError when there is no such folder and none can be made.
    """
    real = root.resolve()
    path = os.fsencode(real)
    folder = _folder_of_user(real, "sites", sha256(path).hexdigest())
    try:
        if not (folder / _SITE).is_file():
            _remove_old(folder.parent, _is_gone)
            (folder / _SITE).write_bytes(path)
        os.utime(folder)  # `_remove_old` removes folders that were not used for long
    except OSError as error:
        raise _refused(folder, f"cannot be used: {error.strerror}") from error
    return folder


def compiled_templates(root: Path, version: bytes) -> Path | None:
    """Return the folder for compiled templates of this version of sitegen; None when there is none.

    Another version may be at work on this machine, so only folders that were not used for 30 days are removed.
    """
    try:
        folder = _folder_of_user(root.resolve(), "templates", version.hex())
        _remove_old(folder.parent)
        os.utime(folder)
        return folder if os.access(folder, os.W_OK) else None
    except (OSError, OutputError):
        return None


def _folder_of_user(site: Path, *names: str) -> Path:
    """Return a folder below `sitegen` that is the user's own, and make it when it is missing.  Raises OutputError."""
    try:
        folder = cache_folder()
        if folder.resolve().is_relative_to(site):
            raise _refused(folder, "stands in the site, which may bring files of others")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("sitegen", *names):
            folder /= name
            _make_own(folder)
    except (OSError, RuntimeError) as error:
        raise _refused(Path("~/.cache"), "cannot be made") from error
    return folder


def _make_own(folder: Path) -> None:
    """Make a folder that only the user can write.  Raises OutputError when it is a link, when another user owns it, or
    when others can write into it.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise _refused(folder, "is no folder") from None
        if status.st_uid != os.geteuid():
            raise _refused(folder, "belongs to another user") from None
        if status.st_mode & 0o022:
            raise _refused(folder, "can be written by other users") from None
        if status.st_mode & 0o077:
            folder.chmod(0o700)


def _refused(folder: Path, why: str) -> OutputError:
    return OutputError(str(folder), f"the build cache `{folder}` {why}", _HINT)


def _remove_old(base: Path, is_gone: Callable[[Path], bool] = lambda folder: False) -> None:
    """Remove the folders that were not used for 30 days, and those for which `is_gone` is true that were not used for a
    day.
    """
    now = time.time()
    with os.scandir(base) as entries:
        ages = {Path(entry.path): now - entry.stat(follow_symlinks=False).st_mtime for entry in entries}
    for folder, age in ages.items():
        if age > _KEPT_S or (age > _DAY_S and is_gone(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_gone(folder: Path) -> bool:
    """Return whether the site of this cache is gone."""
    try:
        return not os.path.isdir((folder / _SITE).read_bytes())  # noqa: PTH112, the path is bytes
    except OSError:
        return True
