"""Run the preview's server, which listens on the loopback address only, and follow saves."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable

from starlette.applications import Starlette
from uvicorn import Config, Server

from sitegen.serve.app import make_app
from sitegen.serve.connections import Connection
from sitegen.serve.live import Live
from sitegen.serve.pages import Preview
from sitegen.serve.saves import Saves

HOST = "127.0.0.1"
CONNECTIONS = 200
"""The most connections at once; beyond it a request gets status 503.  A browser keeps one for each open page.
`Connection` frees a place that no request uses."""
_NAMED = 3
"""The number of saved files that are named in the terminal."""


class PortTakenError(Exception):
    """The port cannot be listened on; the message says which and why."""


def listening(port: int) -> socket.socket:
    """Return a socket on the loopback address, so that no other machine can see a draft; port 0 takes a free one.

    Raises PortTakenError.
    """
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise PortTakenError(f"port {port}: {error.strerror}; `--port 0` takes a free one") from error
    return opened


def address(opened: socket.socket, preview: Preview) -> str:
    """Return the URL of the preview's home page."""
    return f"http://{HOST}:{opened.getsockname()[1]}{preview.base_path}"


def serve(preview: Preview, opened: socket.socket, say: Callable[[str], None], *, jump: bool = False) -> None:
    """Show the site until interrupted.

    `preview` has followed once.  From now on a bug in it is shown as its traceback, and serving goes on.  `say` gets a
    line for each burst of saves, and the mistakes.  With `jump` a tab goes to the page of the saved text.
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(Live(preview, jump=jump), opened, say))


async def _serve(live: Live, opened: socket.socket, say: Callable[[str], None]) -> None:
    app = make_app(live, lambda: server.should_exit)
    server = Server(_config(app))
    saves = Saves(live.preview.root, live.preview.rooms)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in (saves.listen(), _follow(live, saves, say), live.warm())]
        try:
            await server.serve(sockets=[opened])
        finally:
            for task in tasks:
                task.cancel()


def _config(app: Starlette) -> Config:
    return Config(
        app,
        http=Connection,
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        limit_concurrency=CONNECTIONS,
    )


async def _follow(live: Live, saves: Saves, say: Callable[[str], None]) -> None:
    async for paths in saves:
        began = time.perf_counter()
        report = await live.follow(paths)
        if paths:
            say(f"{_named(paths)}: {(time.perf_counter() - began) * 1000:.0f} ms")
        if report:
            say(report)


def _named(paths: set[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(sorted(paths)[:_NAMED]) + more
