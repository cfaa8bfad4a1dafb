"""Keep pictures, and other things that take long to make, by the source that they are made from."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from sitegen.write import cache


class Drawings:
    """A folder of pictures that a version of the program draws.  Several processes may use it at a time."""

    def __init__(self, folder: Path, version: bytes) -> None:
        self._folder, self._version = folder, version

    def __call__(self, source: str, draw: Callable[[str], bytes]) -> bytes:
        """Return the picture that `draw` makes of the source, on which alone it depends."""
        path = self._folder / f"{blake2b(source.encode(), digest_size=16).hexdigest()}.cache"
        picture = cache.load(path, self._version)
        if isinstance(picture, bytes):
            os.utime(path)
            return picture
        made, own = draw(source), path.with_suffix(f".{os.getpid()}")
        cache.save(own, self._version, made)
        own.replace(path)
        return made

    def prune(self, most: int) -> None:
        """Remove all pictures but the `most` that were used last."""
        if not self._folder.is_dir():
            return
        files = sorted(self._folder.glob("*.cache"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in files[most:]:
            path.unlink(missing_ok=True)
