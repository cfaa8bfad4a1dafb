"""A module for each directive or role, or for a few that belong together; `registry` lists them."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def styles(folder: Path = FOLDER) -> bytes:
    """The style sheets beside the modules, one after another, for the end of the site's own."""
    return b"".join(b"\n" + path.read_bytes() for path in sorted(folder.glob("*.css")))
