"""Return the folder of the theme that every site begins with.  Nothing is imported for it: each build asks, also one
that does nothing.
"""

from __future__ import annotations

from pathlib import Path

import sitegen


def default_folder() -> Path:
    """`sitegen/theme` in the wheel, `templates/` beside the package in the repository."""
    package = Path(sitegen.__file__).parent
    shipped = package / "theme"
    return shipped if shipped.is_dir() else package.parent / "templates"
