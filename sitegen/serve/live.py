"""What the browser is to see now, and the waiting for what comes next."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Preview:
    """One build, as `serve` shows it."""

    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """Content by output path; of a build with mistakes, what could be made all the same."""
    mistakes: str = ""
    """The diagnostics as text; empty when there are none that fail a build."""
    base_path: str = "/"
    """The path of base_url, with a slash at both ends: where the site is mounted."""


def over(last: Preview, new: Preview) -> Preview:
    """A build with mistakes shows what it made over the last good pages; one without replaces them."""
    if not new.mistakes:
        return new
    base_path = new.base_path if new.files else last.base_path
    return Preview({**last.files, **new.files}, new.mistakes, base_path)


def version_of(preview: Preview) -> str:
    """Changes whenever something that a browser could show has changed."""
    digest = hashlib.sha256(preview.mistakes.encode())
    for path, content in sorted(preview.files.items()):
        data = content.encode() if isinstance(content, str) else content
        digest.update(f"\n{path} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]


class Live:
    """The current preview and its version.  `wait` is how open pages learn of the next one."""

    def __init__(self) -> None:
        self.preview, self.version = Preview(), version_of(Preview())
        self._changed = asyncio.Condition()

    async def show(self, new: Preview) -> None:
        shown = over(self.preview, new)
        version = await asyncio.to_thread(version_of, shown)
        async with self._changed:
            self.preview, self.version = shown, version
            self._changed.notify_all()

    async def wait(self, seen: str, seconds: float) -> bool:
        """Whether the version differs from `seen`, at once or within some seconds."""
        async with self._changed:
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait_for(lambda: self.version != seen)
            except TimeoutError:
                return False
            return True
