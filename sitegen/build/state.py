"""What a build knows of itself when it is done: what it read, what it wrote, and why.

As plain values, so that the next build can tell within milliseconds, and without importing what reads and prints,
that there is nothing to do.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from sitegen.write import cache
from sitegen.write.scan import Signature, digest_file, is_settled

Left = tuple[int, int, int]
"""Size, modification time (ns) and inode of a file that was written."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A sheet as it was printed."""

    key: bytes
    """Of everything that it shows."""
    parts: tuple[bytes, ...]
    names: tuple[str, ...]
    """What each part is."""
    files: tuple[str, ...]
    why: tuple[str, ...]
    """The reasons for which it was printed last."""


@dataclass(frozen=True, slots=True)
class State:
    """Of one output of a site."""

    signatures: dict[str, Signature | None]
    """Of every file of the site; None where a change could still leave it as it is."""
    digests: dict[str, bytes]
    outputs: dict[str, Left]
    as_of: int
    """The ordinal of the day for which the site was built."""
    everything: bool
    timezone: str
    shows_day: bool
    """Whether a page shows that day."""
    waiting: tuple[int, ...]
    """The days on which posts appear that are not published yet."""
    report: str
    """The warnings, as the author saw them."""
    sheets: Mapping[str, Printed]

    def same_day(self, as_of: dt.date) -> bool:
        """Whether the site of that day is this one."""
        day = as_of.toordinal()
        if day == self.as_of:
            return True
        return not self.shows_day and day > self.as_of and not any(waits <= day for waits in self.waiting)

    def edited(self, root: Path, seen: Mapping[str, Signature]) -> tuple[str, ...] | None:
        """The files of the site that are not as they were read; None when some are new or gone."""
        if seen.keys() != self.signatures.keys():
            return None
        doubtful = [path for path, signature in self.signatures.items() if signature != seen[path]]
        return tuple(path for path in doubtful if digest_file(root, path) != self.digests[path])

    def knows(self, seen: Mapping[str, Signature]) -> bool:
        """Whether all files have the signatures that they had, or had none that could be trusted."""
        return all(signature in (None, seen[path]) for path, signature in self.signatures.items())

    def same_outputs(self, output: Path) -> bool:
        return all(left_of(f"{output}/{path}") == left for path, left in self.outputs.items())


def load(path: Path, version: bytes) -> State | None:
    found = cache.load(path, version)
    if found is None:
        return None
    return State(**{**found, "sheets": {name: Printed(*one) for name, one in found["sheets"].items()}})


def save(path: Path, version: bytes, state: State) -> None:
    sheets = {name: tuple(getattr(one, f.name) for f in fields(one)) for name, one in state.sheets.items()}
    cache.save(path, version, {f.name: getattr(state, f.name) for f in fields(state)} | {"sheets": sheets})


def left_of(path: str) -> Left | None:
    try:
        stat = os.stat(path)  # noqa: PTH116, of a Path takes three times as long
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def trusted(seen: Mapping[str, Signature], began_ns: int) -> dict[str, Signature | None]:
    """The signatures of a scan that began then, without those that a change could have left as they are."""
    return {path: signature if is_settled(signature, began_ns) else None for path, signature in seen.items()}
