"""Watch folders, and yield the files that are saved in them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from watchfiles import awatch

_STEP_MS = 5
"""The interval of looks; two looks without a new save end a burst.  Looking costs less than 1 % of one core at rest."""
_LONGEST_MS = 1000
_LOOK_MS = 1000
"""The interval of looks for folders that do not exist yet."""
_FEW = 8
"""The most files that an author saves at once; more come from a checkout or a script, and more will follow."""
_REST_S = 0.1


class Saves:
    """The files that were saved and not yet taken, by path from the root."""

    def __init__(self, root: Path, rooms: Collection[str]) -> None:
        """Begin without saves; `rooms` are the folders of `root` to watch, whether they exist or not."""
        self._root, self._rooms = root, rooms
        self._paths: set[str] = set()
        self._any = False
        self._heard = asyncio.Event()

    async def listen(self) -> None:
        """Watch until the task is cancelled.  When a folder appears or is replaced, any file may have been saved."""
        while True:
            with contextlib.suppress(FileNotFoundError):  # a folder was removed in this moment
                await self._listen_to(self._folders())

    async def _listen_to(self, folders: dict[Path, int]) -> None:
        """Watch these folders until others exist."""
        watch = awatch(
            *folders,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_LONGEST_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
        )
        self._hear(set(), any_file=True)  # the receiver runs when this task waits, and then it watches
        async for changes in watch:
            self._hear({Path(path).relative_to(self._root).as_posix() for _, path in changes})
            if self._folders() != folders:
                break

    async def __aiter__(self) -> AsyncIterator[set[str] | None]:
        """Yield the files of each burst of saves when it is over; None when any file may have been saved."""
        while True:
            await self._heard.wait()
            while len(self._paths) > _FEW:
                count = len(self._paths)
                await asyncio.sleep(_REST_S)
                if len(self._paths) == count:
                    break
            paths = None if self._any else self._paths
            self._paths, self._any = set(), False
            self._heard.clear()
            yield paths

    def _hear(self, paths: set[str], any_file: bool = False) -> None:
        self._paths |= paths
        self._any = self._any or any_file
        if self._paths or self._any:
            self._heard.set()

    def _folders(self) -> dict[Path, int]:
        """Return the existing folders with their inodes, which differ when a folder was replaced by another.

        A link is not watched, because a site reads nothing through it.
        """
        folders = (self._root / name for name in self._rooms)
        return {folder: folder.stat().st_ino for folder in folders if folder.is_dir() and not folder.is_symlink()}
