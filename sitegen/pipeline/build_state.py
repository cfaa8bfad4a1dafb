"""Keep the state that one build leaves for the next: the files that it read and wrote, and the reasons for which it
printed pages.

The values are plain, so that the next build can find within milliseconds, and without importing modules that parse and
print, that nothing changed.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path

from sitegen.write import cache
from sitegen.write.scan import Signature, digest_file, is_settled

FileStamp = tuple[int, int, int]
"""Size, modification time (ns) and inode of a file that was written."""


@dataclass(frozen=True, slots=True)
class PrintedSheet:
    """The last printing of a sheet."""

    key: bytes
    """A digest of all its dependencies; empty when another sheet's file replaces one of its files."""
    digests: tuple[bytes, ...]
    """A digest of each dependency."""
    names: tuple[str, ...]
    """The name of each dependency, in words."""
    files: tuple[str, ...]
    """Its files, by path in the output."""
    why: tuple[str, ...]
    """The reasons for which it was printed last."""


@dataclass(frozen=True, slots=True)
class BuildState:
    """The last build of one output of a site."""

    signatures: dict[str, Signature | None]
    """The signature of every file of the site; None when a later change of the file could have the same signature."""
    digests: dict[str, bytes]
    """The digest of the content of every file of the site."""
    outputs: dict[str, FileStamp]
    """The stamp of every file of the output."""
    as_of: int
    """The ordinal of the day for which the site was built."""
    everything: bool
    timezone: str
    shows_day: bool
    """Whether a page shows that day."""
    waiting: tuple[tuple[int, str], ...]
    """The posts that are not published yet and are no drafts, by the ordinal of their day and their path."""
    report: str
    """The warnings, as the author saw them."""
    sheets: Mapping[str, PrintedSheet]
    """All sheets of the output, by name."""

    def same_day(self, as_of: dt.date) -> bool:
        """Return whether the site of that day is the same as this one."""
        day = as_of.toordinal()
        if day == self.as_of:
            return True
        return not self.shows_day and day > self.as_of and not any(waits <= day for waits, _ in self.waiting)

    def edited_files(self, root: Path, signatures: Mapping[str, Signature]) -> tuple[str, ...] | None:
        """Return the files of the site whose content changed since this build; None when files are new or gone."""
        if signatures.keys() != self.signatures.keys():
            return None
        doubtful = [path for path, signature in self.signatures.items() if signature != signatures[path]]
        return tuple(path for path in doubtful if digest_file(root, path) != self.digests[path])

    def has_signatures(self, signatures: Mapping[str, Signature]) -> bool:
        """Return whether all files still have their signatures.  An untrusted signature counts as the same."""
        return all(signature in (None, signatures[path]) for path, signature in self.signatures.items())

    def same_outputs(self, output: Path) -> bool:
        """Return whether all files of the output still have the stamps of this build."""
        return all(stamp_of(f"{output}/{path}") == stamp for path, stamp in self.outputs.items())


def load_state(path: Path, version: bytes) -> BuildState | None:
    """Return the state that `save_state` wrote with that version; None when there is none."""
    values = cache.load(path, version)
    if values is None:
        return None
    return BuildState(**{**values, "sheets": {name: PrintedSheet(*one) for name, one in values["sheets"].items()}})


def save_state(path: Path, version: bytes, state: BuildState) -> None:
    """Write the state of an output as plain values."""
    values = attrgetter(*(one.name for one in fields(PrintedSheet)))
    sheets = {name: values(one) for name, one in state.sheets.items()}
    cache.save(path, version, {f.name: getattr(state, f.name) for f in fields(state)} | {"sheets": sheets})


def stamp_of(path: str) -> FileStamp | None:
    """Return the stamp of a file of the output; None when there is no such file."""
    try:
        stat = os.stat(path)  # noqa: PTH116, the stat of a Path takes three times as long
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def trusted_signatures(signatures: Mapping[str, Signature], began_ns: int) -> dict[str, Signature | None]:
    """Return the signatures of a scan that began at `began_ns`; None for each file that could change without changing
    its signature.
    """
    return {path: signature if is_settled(signature, began_ns) else None for path, signature in signatures.items()}
