"""The server on this machine: builds, listens on the loopback address, and builds again when a source changes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import traceback
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import uvicorn
from watchfiles import awatch

from sitegen.serve.app import make_app
from sitegen.serve.live import Live, Preview

HOST = "127.0.0.1"
SOURCES = ("content", "series", "kernels", "templates")
"""The folders of a site that a build reads."""


class PortTakenError(Exception):
    """The port cannot be listened on; the message says which and why."""


def serve(root: Path, build: Callable[[], Preview], port: int, say: Callable[[str], None]) -> None:
    """Show the site at `root` until interrupted; port 0 takes a free one.

    `build` makes one preview and may raise: a bug in it is shown as its traceback, and serving goes on.
    `say` gets what people should read after each build: the address or the mistakes.  Raises PortTakenError.
    """
    with listening(port) as opened, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(root, build, opened, say))


def listening(port: int) -> socket.socket:
    """A socket on the loopback address, so that no other machine can see a draft."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise PortTakenError(f"port {port}: {error.strerror}; `--port 0` takes a free one") from error
    return opened


async def _serve(root: Path, build: Callable[[], Preview], opened: socket.socket, say: Callable[[str], None]) -> None:
    live = Live()
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(live, lambda: server.should_exit), log_level="warning", access_log=False, lifespan="off", ws="none"
        )
    )
    address = f"http://{HOST}:{opened.getsockname()[1]}"
    builds = asyncio.create_task(_follow(root, live, build, address, say))
    try:
        await server.serve(sockets=[opened])
    finally:
        builds.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await builds


async def _follow(
    root: Path, live: Live, build: Callable[[], Preview], address: str, say: Callable[[str], None]
) -> None:
    changes = _changes(root)
    while True:
        change = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)  # from here on it listens: what is saved during the build is not missed
        await live.show(await asyncio.to_thread(_guarded, build))
        say(live.preview.mistakes or f"{address}{live.preview.base_path}")
        await change


def _guarded(build: Callable[[], Preview]) -> Preview:
    try:
        return build()
    except Exception:
        return Preview(mistakes=f"a bug in sitegen, not in your site:\n\n{traceback.format_exc()}")


async def _changes(root: Path) -> AsyncIterator[None]:
    """One item per burst of changes in the sources, also in a folder that appears later."""
    while True:
        folders = [root / name for name in SOURCES if (root / name).is_dir()]
        async for changed in awatch(*folders, rust_timeout=1000, yield_on_timeout=True, debounce=400):
            appeared = folders != [root / name for name in SOURCES if (root / name).is_dir()]
            if changed or appeared:
                yield
            if appeared:
                break
