"""A preview and the tabs that show it: who asks, who waits, and what each tab hears.

Whatever the site does, it does in one thread: a page that is asked for after a save is the page of that save.
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
"""From the start until the first page is there, most likely."""


@dataclass(eq=False, slots=True)
class Tab:
    """A page that is open in a browser."""

    page: str
    """The path of its URL."""
    go: str = ""
    """The path of the URL that it shall show instead."""


class Live:
    """`follow` takes in what was saved; `events` are what one tab hears of it."""

    def __init__(self, preview: Preview, *, jump: bool = False) -> None:
        """With `jump` the newest tab goes to the page of a text that is saved and that no tab shows."""
        self.preview = preview
        self._jump = jump
        self._bug = ""
        self._mistakes = ""
        self._changes = 0
        self._tabs: list[Tab] = []
        self._changed = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1)

    async def answer(self, url: str) -> Answer:
        """To a request for the path of a URL."""
        return await self._ask(lambda: answer(self.preview, url)) or Answer("404.html", EMPTY, 500)

    async def warm(self) -> None:
        """While nobody waits."""
        await asyncio.sleep(_REST_S)
        await self._ask(self.preview.warm)

    async def follow(self, paths: Collection[str] | None) -> str:
        """Take in what was saved and tell the tabs; gives the report, or the traceback of a bug."""
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
        """Server-sent events for a tab: what it must show, now and after each change, and where it shall go."""
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
        """What the tab must show: the version of its page, the URL of each style sheet by what it would be without a
        digest, the mistakes; and where it shall go instead.
        """
        found, base = await self.answer(tab.page), self.preview.base_path
        styles = {f"{base}{name}": f"{base}{style}" for name, style in self.preview.styles.items()}
        go = quote(tab.go)
        return json.dumps({"version": found.version, "styles": styles, "mistakes": self._mistakes, "go": go})

    async def _ask(self, question: Callable[[], T]) -> T | None:
        """What the site answers in its thread; None when sitegen fails at it.  To print a page may show mistakes."""
        loop = asyncio.get_running_loop()
        found, mistakes = await loop.run_in_executor(self._thread, self._guarded, question)
        if mistakes != self._mistakes:
            self._mistakes = mistakes
            await self._tell()
        return found

    def _guarded(self, question: Callable[[], T]) -> tuple[T | None, str]:
        """The answer and what is to be shown over every page."""
        try:
            found = question()
            return found, self._bug or (self.preview.report if self.preview.failed else "")
        except Exception:
            self._bug = f"a bug in sitegen, not in your site:\n\n{traceback.format_exc()}"
            return None, self._bug

    async def _tell(self) -> None:
        async with self._changed:
            self._changes += 1
            self._changed.notify_all()

    async def _wait(self, seen: int) -> None:
        """For the next change; not for ever, since a server that closes has none."""
        async with self._changed:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._changed.wait_for(lambda: self._changes != seen)
            except TimeoutError:
                return
