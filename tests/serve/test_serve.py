"""A real server on a free loopback port, asked over HTTP."""

import json
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from sitegen.serve.server import PortTakenError, listening

SERVER = """
    import pathlib, sys
    from sitegen.serve.live import Preview
    from sitegen.serve.server import serve

    root = pathlib.Path(sys.argv[1])

    def build():
        text = (root / "content/post.md").read_text(encoding="utf-8")
        if text == "bug":
            raise ZeroDivisionError("in the renderer")
        page = f"<!doctype html><html><head><title>Post</title></head><body>{text}</body></html>"
        good = {"other/index.html": "other " + text}
        if text.startswith("mistake"):
            return Preview(good, "error[SG012]: " + text, "/blog/")
        files = {"index.html": page, "posts/softmax/index.html": page, "404.html": "<p>Not here", "a.css": "a{}",
                 "plot.png": b"\\x89PNG", "posts/softmax.ptx": "ptx"}
        return Preview(files | good, "", "/blog/")

    serve(root, build, 0, lambda text: print(text, flush=True))
"""


class Server:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[HTTPResponse | HTTPConnection] = []
        self.write("first")
        command = [sys.executable, "-c", textwrap.dedent(SERVER), str(root)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/blog/", self.said())[1])  # type: ignore[index]  # it said its address

    def write(self, text: str) -> None:
        (self.root / "content").mkdir(exist_ok=True)
        (self.root / "content/post.md").write_text(text, encoding="utf-8")

    def said(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def ask(self, path: str, host: str = "127.0.0.1", method: str = "GET") -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, headers={"Host": f"{host}:{self.port}"})
        answer = connection.getresponse()
        self.opened += [answer, connection]
        return answer

    def text(self, path: str) -> str:
        return self.ask(path).read().decode()

    def end(self) -> None:
        for opened in self.opened:
            opened.close()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path)
    yield running
    running.end()


def events(response: HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


def test_page_stands_where_it_will_be_published_with_the_client_as_an_external_script(server: Server) -> None:
    page = server.text("/blog/posts/softmax/")
    assert page == (
        '<!doctype html><html><head><title>Post</title><script src="/_sitegen/reload.js" defer></script>'
        "</head><body>first</body></html>"
    )
    assert "EventSource" in server.text("/_sitegen/reload.js")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/blog/", "text/html; charset=utf-8"),
        ("/blog/a.css", "text/css; charset=utf-8"),
        ("/blog/plot.png", "image/png"),
        ("/blog/posts/softmax.ptx", "application/octet-stream"),
        ("/_sitegen/reload.js", "text/javascript; charset=utf-8"),
    ],
)
def test_file_has_its_type_and_is_never_cached(server: Server, path: str, kind: str) -> None:
    answer = server.ask(path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)
    assert answer.headers["Cache-Control"] == "no-store"
    assert server.ask(path, method="HEAD").read() == b""


@pytest.mark.parametrize(
    ("path", "target"), [("/", "/blog/"), ("/blog", "/blog/"), ("/blog/posts/softmax", "/blog/posts/softmax/")]
)
def test_address_without_its_slash_leads_to_the_page(server: Server, path: str, target: str) -> None:
    answer = server.ask(path)
    assert (answer.status, answer.headers["Location"]) == (307, target)


@pytest.mark.parametrize(
    "path",
    [
        "/blog/nowhere/",
        "/blogger/",
        "/posts/softmax/",
        "/blog/../content/post.md",
        "/blog/%2e%2e/content/post.md",
        "/blog/..%2fcontent/post.md",
        "/../../etc/passwd",
        "//example.org/",
        "/blog//example.org",
    ],
)
def test_address_of_no_page_gets_the_404_page_and_no_other_file(server: Server, path: str) -> None:
    answer = server.ask(path)
    assert answer.status == 404
    assert answer.read().decode().endswith("<p>Not here")


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "192.168.0.7", ""])
def test_name_of_another_host_is_refused(server: Server, host: str) -> None:
    assert server.ask("/blog/", host=host).status == 400
    assert server.ask("/_sitegen/events", host=host).status == 400


def test_server_listens_on_the_loopback_address_only(server: Server) -> None:
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex(("127.0.0.2", server.port)) != 0


def test_change_reaches_the_open_page(server: Server) -> None:
    stream = events(server.ask("/_sitegen/events"))
    before = next(stream)
    server.write("second")
    after = next(stream)
    assert before["mistakes"] == after["mistakes"] == ""
    assert before["version"] != after["version"]
    assert "second" in server.text("/blog/")


def test_mistake_is_shown_over_the_last_good_page_and_does_not_hide_the_others(server: Server) -> None:
    stream = events(server.ask("/_sitegen/events"))
    next(stream)
    server.write("mistake <script>")
    assert next(stream)["mistakes"] == "error[SG012]: mistake <script>"
    assert "first" in server.text("/blog/")
    assert "other mistake" in server.text("/blog/other/")
    server.write("mended")
    assert next(stream)["mistakes"] == ""
    assert "mended" in server.text("/blog/")


def test_bug_is_shown_with_its_traceback_and_serving_goes_on(server: Server) -> None:
    stream = events(server.ask("/_sitegen/events"))
    next(stream)
    server.write("bug")
    assert "ZeroDivisionError: in the renderer" in next(stream)["mistakes"]
    assert "first" in server.text("/blog/")
    server.write("mended")
    assert next(stream)["mistakes"] == ""


def test_folder_that_appears_later_is_watched(server: Server) -> None:
    (server.root / "templates").mkdir()
    assert "/blog/" in server.said()
    time.sleep(0.5)
    (server.root / "templates/base.html").write_text("changed")
    assert "/blog/" in server.said()


def test_interrupt_ends_it_at_once_also_with_a_page_open(server: Server) -> None:
    stream = events(server.ask("/_sitegen/events"))
    next(stream)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=10) == 0
    assert list(stream) == []


def test_taken_port_is_a_message() -> None:
    with listening(0) as first, pytest.raises(PortTakenError, match="`--port 0` takes a free one"):
        listening(first.getsockname()[1])
