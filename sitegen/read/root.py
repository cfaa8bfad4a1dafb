"""Find the root of a site, which is the folder that holds content/site.yaml."""

from __future__ import annotations

from pathlib import Path

SITE_FILE = "content/site.yaml"


def find_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that holds content/site.yaml."""
    here = start.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / SITE_FILE).is_file()), None)
