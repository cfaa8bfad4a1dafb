"""Find the folder of the default theme.  The module imports little, because every build calls it, also one that changes
nothing.
"""

from __future__ import annotations

from pathlib import Path

import sitegen


def default_folder() -> Path:
    """Return the folder of the default theme: `sitegen/theme` in the wheel, `templates/` beside the package in the
    repository.
    """
    package = Path(sitegen.__file__).parent
    shipped = package / "theme"
    return shipped if shipped.is_dir() else package.parent / "templates"
