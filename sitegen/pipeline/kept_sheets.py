"""Keep the sheets that a preview printed last, and whether they are still current."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sitegen.render.rules.sheet import Files


@dataclass(frozen=True, slots=True)
class KeptSheet:
    """The files of a sheet as they were printed last."""

    files: Files
    is_good: bool
    """Whether its text had no errors."""
    depends_on: frozenset[str]
    """The files of the site on which it depends."""
    is_current: bool = True
    """Whether it would be printed the same now."""


class KeptSheets:
    """The sheets that were printed last, by name: at most `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, KeptSheet] = {}

    def get(self, name: str) -> KeptSheet | None:
        """Return a sheet as it was printed last; None when it is not kept."""
        return self._kept.get(name)

    def keep(self, name: str, sheet: KeptSheet) -> None:
        """Keep a sheet that was printed now.  When there are too many, forget the one that was printed longest ago."""
        self._kept.pop(name, None)
        self._kept[name] = sheet
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def outdate_all(self) -> None:
        """Note that each sheet could be different now."""
        self._kept = {name: replace(sheet, is_current=False) for name, sheet in self._kept.items()}

    def outdate(self, paths: Collection[str]) -> None:
        """Note that the sheets that depend on these files could be different now."""
        for name, sheet in self._kept.items():
            if not sheet.depends_on.isdisjoint(paths):
                self._kept[name] = replace(sheet, is_current=False)
