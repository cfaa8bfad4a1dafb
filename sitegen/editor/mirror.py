"""Mirror the files of a site in another folder, where the texts that are open in an editor are those of the editor.

Nothing of a text that is not saved reaches the site.  Other files are hard links, or copies on another file system.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sitegen import inside
from sitegen.pipeline.read_files import SITE_FOLDERS

_BESIDE = ("private.yaml",)
"""Files beside the folders that a build reads."""


class Mirror:
    """The mirror of the site at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = tempfile.TemporaryDirectory(prefix="sitegen-editor-")
        self.folder = Path(self._folder.name)
        self._open: set[str] = set()
        for path in (*_BESIDE, *self._files()):
            self._link(path)

    def close(self) -> None:
        self._folder.cleanup()

    def take(self, path: str, text: str) -> None:
        """Give a file the text that it has in the editor."""
        self._open.add(path)
        inside.write_bytes(self.folder, path, text.encode())  # a new file: the site's own stays as it is

    def release(self, path: str) -> None:
        """Give a file the content that it has on the disk."""
        self._open.discard(path)
        self._link(path)

    def refresh(self, paths: Iterable[str]) -> None:
        """Take in files that another program changed; open texts stay those of the editor."""
        for path in paths:
            if path not in self._open:
                self._link(path)

    def text(self, path: str) -> str:
        """Return the text of a file as the editor sees it; empty when it cannot be read."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return inside.read_bytes(self.folder, path).decode()
        return ""

    def _files(self) -> Iterable[str]:
        for folder in SITE_FOLDERS:
            yield from inside.files_below(self.root, folder)

    def _link(self, path: str) -> None:
        target = self.folder / path
        target.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the site has no such file, or one that leads out of the site
            source = inside.resolved(self.root, path)
            inside.make_folder(self.folder, path.rpartition("/")[0])
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)
