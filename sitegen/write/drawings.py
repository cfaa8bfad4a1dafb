"""Pictures that took long to draw, kept by what they were drawn from: the same is never drawn twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from sitegen.write import cache

_VERSION = b"1"


class Drawings:
    """A folder of pictures.  Several processes may draw, each another picture."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, source: str, draw: Callable[[str], bytes]) -> bytes:
        """What `draw` makes of the source, which also names whatever else that depends on."""
        path = self._folder / f"{blake2b(source.encode(), digest_size=16).hexdigest()}.cache"
        found = cache.load(path, _VERSION)
        if isinstance(found, bytes):
            os.utime(path)
            return found
        made = draw(source)
        cache.save(path, _VERSION, made)
        return made

    def prune(self, most: int) -> None:
        """Keep no more than so many, those that were asked for last."""
        if not self._folder.is_dir():
            return
        files = sorted(self._folder.glob("*.cache"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in files[most:]:
            path.unlink(missing_ok=True)
