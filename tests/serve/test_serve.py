"""The answers of a real server process over HTTP, and the clients that it refuses."""

import http.client
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from sitegen.serve.server import PortTakenError, listening


def test_page_stands_where_it_will_be_published_with_the_client_as_an_external_script(unchanged: Any) -> None:
    html = unchanged.ask("/blog/posts/first/").read().decode()
    version = unchanged.tab("posts/first/").state["version"]
    assert html.count(f'<script src="/_sitegen/client.js" data-version="{version}" defer></script></head>') == 1
    assert "The first text." in html
    assert "EventSource" in unchanged.ask("/_sitegen/client.js").read().decode()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/blog/", "text/html; charset=utf-8"),
        ("/blog/posts/drawn/plot.png", "image/png"),
        ("/blog/sitemap.xml", "application/xml"),
        ("/blog/robots.txt", "text/plain; charset=utf-8"),
        ("/_sitegen/client.js", "text/javascript; charset=utf-8"),
    ],
)
def test_file_has_its_type_is_never_cached_and_is_for_this_server_only(unchanged: Any, path: str, kind: str) -> None:
    answer = unchanged.ask(path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert unchanged.ask(path, method="HEAD").read() == b""


@pytest.mark.parametrize(
    ("path", "target"), [("/", "/blog/"), ("/blog", "/blog/"), ("/blog/posts/first", "/blog/posts/first/")]
)
def test_address_without_its_slash_leads_to_the_page(unchanged: Any, path: str, target: str) -> None:
    answer = unchanged.ask(path)
    assert (answer.status, answer.headers["Location"]) == (307, target)


@pytest.mark.parametrize(
    "path",
    [
        "/blog/nowhere/",
        "/blogger/",
        "/posts/first/",
        "/blog/../content/site.yaml",
        "/blog/%2e%2e/content/site.yaml",
        "/blog/..%2fcontent/site.yaml",
        "/blog/%2e%2e%2fcontent%2fsite.yaml",
        "/blog/%252e%252e/content/site.yaml",
        "/blog/..%5ccontent%5csite.yaml",
        "/blog/posts/drawn/../../../content/site.yaml",
        "/blog/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/../../etc/passwd",
        "//example.org/",
        "/blog//example.org",
        "/blog//etc/passwd",
        "/blog/%00",
    ],
)
def test_address_of_no_page_gets_the_404_page_and_no_other_file(unchanged: Any, path: str) -> None:
    answer = unchanged.ask(path)
    assert answer.status == 404
    text = answer.read().decode()
    assert "base_url" not in text
    assert "root:" not in text


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "192.168.0.7", ""])
def test_name_of_another_host_is_refused(unchanged: Any, host: str) -> None:
    assert unchanged.ask("/blog/", host=host).status == 400
    assert unchanged.ask("/_sitegen/events?page=/blog/", host=host).status == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_from_elsewhere_hear_nothing(unchanged: Any, headers: dict[str, str]) -> None:
    assert unchanged.ask("/_sitegen/events?page=/blog/", **headers).status == 403


def test_a_page_of_this_server_may_say_where_it_is_from(unchanged: Any) -> None:
    headers = {"Origin": f"http://127.0.0.1:{unchanged.port}", "Sec-Fetch-Site": "same-origin"}
    assert unchanged.ask("/_sitegen/events?page=/blog/", **headers).status == 200


def test_server_listens_on_the_loopback_address_only(unchanged: Any) -> None:
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex(("127.0.0.2", unchanged.port)) != 0


def test_interrupt_ends_it_at_once_also_with_a_page_open(server: Any) -> None:
    tab = server.tab("")
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=10) == 0
    with pytest.raises((AssertionError, http.client.HTTPException)):
        tab.hears()


def test_taken_port_is_a_message(start: Callable[..., Any]) -> None:
    with listening(0) as first, pytest.raises(PortTakenError, match="`--port 0` takes a free one"):
        listening(first.getsockname()[1])


def test_file_that_is_no_page_of_the_site_runs_no_script(unchanged: Any) -> None:
    for path in ("/blog/posts/drawn/plot.png", "/blog/sitemap.xml", "/blog/robots.txt"):
        answer = unchanged.ask(path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].endswith("; sandbox")
    for path in ("/blog/", "/_sitegen/client.js"):
        assert "Content-Security-Policy" not in unchanged.ask(path).headers


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /blog/ HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"GET /blog/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /",
        b"POST /blog/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nab",
    ],
    ids=["nothing", "half a request", "a request and a half", "half a body"],
)
def test_connection_without_a_whole_request_is_closed(unchanged: Any, sent: bytes) -> None:
    """201 such connections kept every other request out until they ended."""
    with socket.create_connection(("127.0.0.1", unchanged.port), timeout=12) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        while connection.recv(65536):
            pass
        assert 4 < time.monotonic() - began < 10


def test_flood_of_half_requests_ends_and_leaves_an_open_page(unchanged: Any) -> None:
    tab = unchanged.tab("posts/first/")
    flood = [socket.create_connection(("127.0.0.1", unchanged.port), timeout=12) for _ in range(200)]
    for connection in flood:
        connection.sendall(b"GET / HTTP/1.1\r\n")
    assert unchanged.ask("/blog/").status == 503
    time.sleep(7)
    assert unchanged.ask("/blog/").status == 200
    assert tab.state["version"]
    for connection in flood:
        connection.close()
