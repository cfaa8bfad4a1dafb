"""Find the folders of the user in which programs keep files, by the XDG base directory specification.

A cache holds files that a program can make again, and a state holds files that must not be lost.  sitegen keeps both
with the user and not in a site, whose folder may come from a stranger.
"""

from __future__ import annotations

import os
from pathlib import Path


class NoHomeError(OSError):
    """The user has no home, and no variable of the environment names another folder."""


def cache_folder() -> Path:
    """Return `$XDG_CACHE_HOME` or `~/.cache`.  Raises NoHomeError."""
    return _folder("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Return `$XDG_STATE_HOME` or `~/.local/state`.  Raises NoHomeError."""
    return _folder("XDG_STATE_HOME", ".local/state")


def _folder(variable: str, below_home: str) -> Path:
    """Return the folder that a variable names; a relative path is ignored, as the specification demands."""
    named = Path(os.environ.get(variable, ""))
    try:
        return named if named.is_absolute() else Path.home() / below_home
    except RuntimeError as error:
        raise NoHomeError(f"the user has no home, and {variable} names no folder") from error
