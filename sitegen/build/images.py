"""The images that the texts of a site show → what is known of each file; looked at once, and kept by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitegen import inside
from sitegen.build.workers import each
from sitegen.model.image import BrokenImage, Image
from sitegen.write import cache
from sitegen.write.scan import could_be_read, digest_file

FORMS = "images"
"""The folder of the cache that keeps the forms of images."""
_BATCH = 4
"""Images that a worker looks at a time."""
Known = dict[bytes, tuple[str | int | bool, ...]]
"""By the digest of a file, the fields of its Image, or of its BrokenImage."""


@dataclass(frozen=True, slots=True)
class Looker:
    """Of one site."""

    root: Path
    folder: Path
    """The site's cache."""
    version: bytes
    digests: Mapping[str, bytes]
    """Of the files whose content is known already, by path."""
    processes: int = 1

    def __call__(self, paths: Sequence[str]) -> dict[str, Image | BrokenImage]:
        """What is known of each file that can be read."""
        if not paths:
            return {}
        file = self.folder / "images.cache"
        known: Known = cache.load(file, self.version) or {}
        every = {path: self.digests.get(path) or digest_file(self.root, path) for path in paths}
        digests = {path: digest for path, digest in every.items() if could_be_read(digest)}
        new = sorted(path for path, digest in digests.items() if digest not in known)
        now: Known = {digest: known[digest] for digest in digests.values() if digest in known}
        batches = [new[at : at + _BATCH] for at in range(0, len(new), _BATCH)]
        for seen in each(self._look, batches, self.processes):
            now.update({digests[path]: fields for path, fields in seen})
        if now != known:
            cache.save(file, self.version, now)
        return {path: _made(now[digest]) for path, digest in digests.items()}

    def _look(self, batch: Sequence[str], _worker: int) -> list[tuple[str, tuple[str | int | bool, ...]]]:
        from sitegen.read.images import read_image

        found = []
        for path in batch:
            seen = read_image(inside.read_bytes(self.root, path), path)
            found.append((path, tuple(getattr(seen, name) for name in seen.__match_args__)))
        return found


def _made(fields: tuple[str | int | bool, ...]) -> Image | BrokenImage:
    return BrokenImage(*fields) if len(fields) == 2 else Image(*fields)  # type: ignore[arg-type]
