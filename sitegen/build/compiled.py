"""Where compiled templates are kept: with the user, never with the site.

They are code; a site that somebody copied must not bring any along.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def compiled_templates(version: bytes) -> Path | None:
    """A folder of the user for this version, those of others are removed; None where there is no room for one."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sitegen" / "templates"
        folder = base / version.hex()
        if not folder.is_dir():
            shutil.rmtree(base, ignore_errors=True)
            folder.mkdir(parents=True, mode=0o700)
        return folder if os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):
        return None
