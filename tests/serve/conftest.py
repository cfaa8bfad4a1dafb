"""The server of `sitegen serve` for a small site, with a client over HTTP and a client for events."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

BASE = "/blog/"
FILES = {
    "content/site.yaml": "title: Notes\nbase_url: https://example.org/blog/\n",
    "content/posts/first.md": "---\ntitle: First\ndate: 2026-11-20\n---\nThe first text.\n",
    "content/posts/second.md": "---\ntitle: Second\ndate: 2026-11-21\n---\nThe second text.\n",
    "content/posts/drawn/index.md": "---\ntitle: Drawn\ndate: 2026-11-10\n---\n![A picture](plot.png)\n",
    "content/pages/about.md": "---\ntitle: About\n---\nWho writes this.\n",
}


def picture(red: int) -> bytes:
    """Return a picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes((0, red, 0, 0)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


class Server:
    """A server process, which writes its messages to stderr."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root = root
        self.opened: list[HTTPResponse | HTTPConnection] = []
        command = [sys.executable, "-m", "sitegen", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
        self.port = int(self.says(r"http://127\.0\.0\.1:(\d+)/")[1])

    def says(self, pattern: str) -> re.Match[str]:
        """Return the match of the next line that contains the pattern."""
        assert self.process.stderr
        for line in self.process.stderr:
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"it ended without saying {pattern}")

    def write(self, path: str, text: str | bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode() if isinstance(text, str) else text)

    def post(self, slug: str, text: str, front: str = "", title: str = "") -> None:
        front = f"title: {title or slug.title()}\ndate: 2026-11-20\n{front}"
        self.write(f"content/posts/{slug}.md", f"---\n{front}---\n{text}\n")

    def ask(self, path: str, *, host: str = "127.0.0.1", method: str = "GET", **headers: str) -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, headers={"Host": f"{host}:{self.port}", **headers})
        answer = connection.getresponse()
        self.opened += [answer, connection]
        return answer

    def page(self, path: str) -> str:
        """Return a page of the site, without the script that the server adds."""
        return re.sub(r'<script src="/_sitegen/[^>]*></script>', "", self.ask(f"{BASE}{path}").read().decode())

    def tab(self, path: str) -> Tab:
        return Tab(self.ask(f"/_sitegen/events?page={BASE}{path}"))

    def until(self, there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not there():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self) -> None:
        for opened in self.opened:
            opened.close()
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


class Tab:
    """The events that an open page receives."""

    def __init__(self, stream: HTTPResponse) -> None:
        self._lines = iter(stream)
        self.state = self.hears()

    def hears(self) -> dict[str, Any]:
        """Return the next state."""
        for line in self._lines:
            if line.startswith(b"data: "):
                self.state = json.loads(line.removeprefix(b"data: "))
                return self.state
        raise AssertionError("the stream ended")


@pytest.fixture
def png() -> Callable[[int], bytes]:
    return picture


def write_site(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    (root / "content/posts/drawn/plot.png").write_bytes(picture(0))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_site(tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all tests of a file use and none of them ends; no test changes its site."""
    server = Server(write_site(tmp_path_factory.mktemp("unchanged")))
    yield server
    server.end()


@pytest.fixture
def start(root: Path) -> Iterator[Callable[..., Server]]:
    running: list[Server] = []

    def started(*options: str) -> Server:
        running.append(Server(root, *options))
        return running[-1]

    yield started
    for server in running:
        server.end()


@pytest.fixture
def server(start: Callable[..., Server]) -> Server:
    return start()
