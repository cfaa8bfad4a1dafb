"""Keep the bundles that this machine wrote, so that `accept` can find the one that a result answers.

A copy of each lies in the user's state folder; the newest KEPT stay.
"""

from __future__ import annotations

from pathlib import Path

from sitegen import inside
from sitegen.write.user_folders import NoHomeError, state_folder

KEPT = 20


def remember(data: bytes, digest: str) -> None:
    """Keep a copy of a bundle under its SHA-256.  Raises OSError."""
    folder = _folder()
    inside.write_bytes(folder, f"{digest}.zip", data)
    copies = sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime_ns)
    for old in copies[:-KEPT]:
        old.unlink(missing_ok=True)


def recall(digest: str) -> Path | None:
    """Return the copy of the bundle with a SHA-256; None when this machine did not write it or no longer has it."""
    try:
        folder = _folder()
    except NoHomeError:
        return None
    return folder / f"{digest}.zip" if inside.is_file(folder, f"{digest}.zip") else None


def _folder() -> Path:
    return state_folder() / "sitegen" / "bundles"
