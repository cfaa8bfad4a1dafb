"""Copies of the bundles that this machine wrote, by which `accept` knows the jobs that a result answers.

The copies lie in the user's own folder and not in the site, because a site's folder may come from a stranger.  The
newest KEPT stay.
"""

from __future__ import annotations

import os
from pathlib import Path

from sitegen import inside

KEPT = 20


def remember(data: bytes, digest: str) -> None:
    """Keep a copy of a bundle under its SHA-256.  Raises OSError."""
    folder = _folder()
    inside.write_bytes(folder, f"{digest}.zip", data)
    copies = sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime_ns)
    for old in copies[:-KEPT]:
        old.unlink(missing_ok=True)


def recall(digest: str) -> Path | None:
    """Return the copy of the bundle with that SHA-256; None when this machine did not write it or no longer has it."""
    return _folder() / f"{digest}.zip" if inside.is_file(_folder(), f"{digest}.zip") else None


def _folder() -> Path:
    # Path.home() would fail for a user without a home
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111
    return Path(base) / "sitegen" / "bundles"
