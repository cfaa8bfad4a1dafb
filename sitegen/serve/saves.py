"""Folders → what is saved in them, as it happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from watchfiles import awatch

_STEP_MS = 5
"""Two of them without another save end a burst; a rest costs under 1 % of a core."""
_LONGEST_MS = 1000
_LOOK_MS = 1000
"""How often a folder is looked for that was not there before."""
_FEW = 8
"""Files that an author saves at once; more are a checkout or a script, and more will follow."""
_REST_S = 0.1


class Saves:
    """The files that were saved and not yet taken, by path from the root."""

    def __init__(self, root: Path, rooms: Collection[str]) -> None:
        """`rooms` are the folders of `root` that count, whether they are there or not."""
        self._root, self._rooms = root, rooms
        self._paths: set[str] = set()
        self._any = False
        self._heard = asyncio.Event()

    async def listen(self) -> None:
        """For ever.  What happened to a folder before it was there, or while it was another, nobody knows."""
        while True:
            with contextlib.suppress(FileNotFoundError):  # a folder went in this moment
                await self._listen_to(self._folders())

    async def _listen_to(self, folders: dict[Path, int]) -> None:
        """Until others are there."""
        watch = awatch(
            *folders,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_LONGEST_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
        )
        self._hear(set(), any_file=True)  # who takes it does so once this waits, which is when it watches
        async for changes in watch:
            self._hear({Path(path).relative_to(self._root).as_posix() for _, path in changes})
            if self._folders() != folders:
                break

    async def __aiter__(self) -> AsyncIterator[set[str] | None]:
        """Each burst when it is over; None: any file may have been saved."""
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
        """Those that are there, each with its inode: a folder may go and another take its place.

        A link is not watched, for a site reads nothing through it.
        """
        folders = (self._root / name for name in self._rooms)
        return {folder: folder.stat().st_ino for folder in folders if folder.is_dir() and not folder.is_symlink()}
