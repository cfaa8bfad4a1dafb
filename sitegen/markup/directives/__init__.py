"""A module for each directive or role, or for a few that belong together; `registry` lists them."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def styles(folder: Path = FOLDER) -> bytes:
    """Return the style sheets beside the modules, joined, for the end of the site's own style sheet."""
    return b"".join(b"\n" + path.read_bytes() for path in sorted(folder.glob("*.css")))
