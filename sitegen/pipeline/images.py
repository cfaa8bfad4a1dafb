"""Read the kinds and sizes of the images that texts show, and the beginnings of the files that texts link to.

Each image is read once, and the cache keeps its values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitegen import inside
from sitegen.model.image import BrokenImage, Image
from sitegen.pipeline.workers import map_batches
from sitegen.read.notebook import file_bytes
from sitegen.write import cache
from sitegen.write.scan import could_be_read, digest_file

FORMS = "images"
"""The folder of the cache that keeps the forms of images."""
_BATCH = 4
"""The number of images in a batch for a worker."""
ImageFields = tuple[str | int | bool, ...]
"""The fields of an Image, or of a BrokenImage."""


@dataclass(frozen=True, slots=True)
class ImageReader:
    """A reader of the image files of one site."""

    root: Path
    folder: Path
    """The site's cache."""
    version: bytes
    digests: Mapping[str, bytes]
    """The digests that are known already, by path."""
    processes: int = 1

    def __call__(self, paths: Sequence[str]) -> dict[str, Image | BrokenImage]:
        """Return the image of each file that can be read."""
        if not paths:
            return {}
        file = self.folder / "images.cache"
        known: dict[bytes, ImageFields] = cache.load(file, self.version) or {}
        every = {path: self.digests.get(path) or digest_file(self.root, path) for path in paths}
        digests = {path: digest for path, digest in every.items() if could_be_read(digest)}
        new = sorted(path for path, digest in digests.items() if digest not in known)
        now: dict[bytes, ImageFields] = {digest: known[digest] for digest in digests.values() if digest in known}
        batches = [new[at : at + _BATCH] for at in range(0, len(new), _BATCH)]
        for seen in map_batches(self._read, batches, self.processes):
            now.update({digests[path]: fields for path, fields in seen})
        if now != known:
            cache.save(file, self.version, now)
        return {path: _image(now[digest]) for path, digest in digests.items()}

    def _read(self, batch: Sequence[str], _worker: int) -> list[tuple[str, ImageFields]]:
        from sitegen.read.images import read_image

        images = []
        for path in batch:
            seen = read_image(file_bytes(self.root, path), path)
            images.append((path, tuple(getattr(seen, name) for name in seen.__match_args__)))
        return images


def faults_of_linked(root: Path, paths: Sequence[str]) -> dict[str, BrokenImage]:
    """Return the faults of the files that must not be published; a file that cannot be read has none."""
    from sitegen.read.linked_files import START, fault_of_linked

    faults: dict[str, BrokenImage] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            if fault := fault_of_linked(path, inside.read_start(root, path, START)):
                faults[path] = fault
    return faults


def _image(fields: ImageFields) -> Image | BrokenImage:
    return BrokenImage(*fields) if len(fields) == 2 else Image(*fields)  # type: ignore[arg-type]
