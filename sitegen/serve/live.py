"""Connect a preview with the browser tabs that show it: answer requests, take in saves, send events to each tab.

The preview works in one thread, so that a page that is requested after a save is the page of that save.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

from sitegen.serve.pages import EMPTY, Answer, Preview, answer

T = TypeVar("T")

HEARTBEAT_S = 1.0
_REST_S = 0.5
"""The time after the start at which the first page has most likely been sent."""


@dataclass(eq=False, slots=True)
class Tab:
    """A browser tab with a page of the preview."""

    page: str
    """The path of its URL."""
    go: str = ""
    """The path of the URL that the tab should go to; empty to stay."""


class Live:
    """A preview and its open tabs: `follow` takes in saved files, `events` is the stream for one tab."""

    def __init__(self, preview: Preview, *, jump: bool = False) -> None:
        """Begin with no tabs; with `jump` the newest tab goes to the page of a saved text that no tab shows."""
        self.preview = preview
        self._jump = jump
        self._bug = ""
        self._mistakes = ""
        self._changes = 0
        self._tabs: list[Tab] = []
        self._changed = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1)

    async def answer(self, url: str) -> Answer:
        """Return the answer to a request for the path of a URL."""
        return await self._ask(lambda: answer(self.preview, url)) or Answer("404.html", EMPTY, 500)

    async def warm(self) -> None:
        """Load what the first save will need, after a rest in which the first page is sent."""
        await asyncio.sleep(_REST_S)
        await self._ask(self.preview.warm)

    async def follow(self, paths: Collection[str] | None) -> str:
        """Take in saved files and tell the tabs; return the report, or the traceback of a bug."""
        self._bug = ""
        saved = await self._ask(lambda: self.preview.follow(paths)) or ()
        if self._jump and len(saved) == 1:
            self._go(f"{self.preview.base_path}{next(iter(saved)).removesuffix('index.html')}")
        await self._tell()
        return self._bug or (await self._ask(lambda: self.preview.report)) or ""

    def _go(self, page: str) -> None:
        if self._tabs and all(tab.page != page for tab in self._tabs):
            self._tabs[-1].go = page

    async def events(self, page: str, closing: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield server-sent events for a tab: its state now and after each change."""
        tab, seen, sent = Tab(page), -1, ""
        self._tabs.append(tab)
        try:
            while not closing():
                if seen != self._changes:
                    seen, state = self._changes, await self._state(tab)
                    if state != sent:
                        yield f"data: {state}\n\n"
                    sent = state
                await self._wait(seen)
        finally:
            self._tabs.remove(tab)

    async def _state(self, tab: Tab) -> str:
        """Return the state of a tab as JSON.

        It has the version of the tab's page, the URL of each style sheet by its URL without a digest, the mistakes, and
        the URL to go to.
        """
        shown, base = await self.answer(tab.page), self.preview.base_path
        styles = {f"{base}{name}": f"{base}{style}" for name, style in self.preview.styles.items()}
        go = quote(tab.go)
        return json.dumps({"version": shown.version, "styles": styles, "mistakes": self._mistakes, "go": go})

    async def _ask(self, question: Callable[[], T]) -> T | None:
        """Return the preview's answer from its thread; None when sitegen fails.

        Tabs are told of new mistakes, because printing a page may reveal some.
        """
        loop = asyncio.get_running_loop()
        reply, mistakes = await loop.run_in_executor(self._thread, self._guarded, question)
        if mistakes != self._mistakes:
            self._mistakes = mistakes
            await self._tell()
        return reply

    def _guarded(self, question: Callable[[], T]) -> tuple[T | None, str]:
        """Return the preview's answer and the mistakes that every page must show."""
        try:
            reply = question()
            return reply, self._bug or (self.preview.report if self.preview.failed else "")
        except Exception:
            self._bug = f"a bug in sitegen, not in your site:\n\n{traceback.format_exc()}"
            return None, self._bug

    async def _tell(self) -> None:
        async with self._changed:
            self._changes += 1
            self._changed.notify_all()

    async def _wait(self, seen: int) -> None:
        """Wait for the next change, but at most one heartbeat, because a server that closes has no next change."""
        async with self._changed:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._changed.wait_for(lambda: self._changes != seen)
            except TimeoutError:
                return
