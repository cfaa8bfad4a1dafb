"""Where compiled templates are kept: with the user, never with the site.

They are code; a site that somebody copied must not bring any along.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

_KEPT_S = 30 * 24 * 3600
"""Another version may be at work on this machine: only what is old is removed."""


def compiled_templates(version: bytes) -> Path | None:
    """A folder of the user for this version; None where there is no room for one."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sitegen" / "templates"
        folder = base / version.hex()
        if not folder.is_dir():
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            _remove_old(base)
        return folder if os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):
        return None


def _remove_old(base: Path) -> None:
    for folder in base.iterdir():
        if folder.stat().st_mtime < time.time() - _KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)
