"""Two builds of a sheet → the reasons why the second prints it again, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sitegen.render.rules.dependencies import VIEW

if TYPE_CHECKING:
    from sitegen.pipeline.build_state import PrintedSheet
    from sitegen.render.rules.dependencies import Part

NEW = ("it was not there before",)
TOUCHED = ("its file is not as it was left",)
_FILES = 3
"""Files that are named in one reason, at most."""


def reasons(
    shows: Sequence[Part], parts: Sequence[bytes], before: PrintedSheet, changed: Sequence[str]
) -> tuple[str, ...]:
    """Return a reason for each part that differs; `changed` are the files of the site that are not what they were."""
    old = dict(zip(before.names, before.parts, strict=True))
    changes = [
        _because(part, changed, "changed" if part.what in old else "is new")
        for part, digest in zip(shows, parts, strict=True)
        if old.get(part.what) != digest
    ]
    now = {part.what for part in shows}
    named = [one for one in changes if not one.startswith(VIEW)]
    return (*(named or changes), *(f"{what} is gone" for what in before.names if what not in now))


def _because(part: Part, changed: Sequence[str], how: str) -> str:
    files = [path for path in changed if path.startswith(part.files)] if part.files else []
    named = ", ".join(files[:_FILES]) + (f" and {len(files) - _FILES} more" if len(files) > _FILES else "")
    return f"{part.what} {how}" + (f": {named}" if named else "")
