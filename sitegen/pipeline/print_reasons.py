"""State in words the reasons for which a build prints a sheet again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sitegen.render.rules.dependencies import VIEW

if TYPE_CHECKING:
    from sitegen.pipeline.build_state import PrintedSheet
    from sitegen.render.rules.dependencies import Dependency

NEW = ("it is new",)
TOUCHED = ("a file of it was changed or removed in the output",)
_FILES = 3
"""The most files that one reason names."""


def reasons(
    dependencies: Sequence[Dependency], digests: Sequence[bytes], before: PrintedSheet, changed: Sequence[str]
) -> tuple[str, ...]:
    """Return a reason for each dependency that differs; `changed` are the files of the site that changed since the last
    build.
    """
    old = dict(zip(before.names, before.digests, strict=True))
    changes = [
        _reason(dependency, changed, "changed" if dependency.name in old else "is new")
        for dependency, digest in zip(dependencies, digests, strict=True)
        if old.get(dependency.name) != digest
    ]
    now = {dependency.name for dependency in dependencies}
    named = [one for one in changes if not one.startswith(VIEW)]
    return (*(named or changes), *(f"{what} is gone" for what in before.names if what not in now))


def _reason(dependency: Dependency, changed: Sequence[str], how: str) -> str:
    files = [path for path in changed if path.startswith(dependency.files)] if dependency.files else []
    named = ", ".join(files[:_FILES]) + (f" and {len(files) - _FILES} more" if len(files) > _FILES else "")
    return f"{dependency.name} {how}" + (f": {named}" if named else "")
