"""Find the root of a site, which is the folder that holds content/site.yaml."""

from __future__ import annotations

import os
from pathlib import Path

SITE_FILE = "content/site.yaml"


def find_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that holds content/site.yaml.

    A pipe or a broken link of that name marks a root, too: reading it then says what is wrong with it.
    """
    here = start.resolve()
    return next((folder for folder in (here, *here.parents) if os.path.lexists(folder / SITE_FILE)), None)
