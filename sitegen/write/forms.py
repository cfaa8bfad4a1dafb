"""The forms of images that a cache keeps, named by the digest of what they were made of."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path


def forget_forms(folder: Path, digests: Collection[bytes]) -> None:
    """Throw away those of images that the site has no more; `digests` are those of all its files."""
    if folder.is_dir():
        known = {digest.hex() for digest in digests}
        for path in folder.iterdir():
            if path.name.partition("-")[0] not in known:
                path.unlink(missing_ok=True)
