"""Links to other sites: which are asked, how politely, and what is said of those that nobody answers."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from sitegen.diagnostics import Span
from sitegen.pipeline import external_links as module
from sitegen.pipeline.external_links import ask, dead_links, external_links, is_asked
from sitegen.pipeline.in_memory import load

PLACES = {"https://a.example.org/1": Span("a.md", 5), "https://a.example.org/2": Span("a.md", 6)}


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("https://example.org/a#b", True),
        ("http://example.org", True),
        ("mailto:a@example.org", False),
        ("http://localhost:8000/", False),
        ("http://127.0.0.1/", False),
        ("http://169.254.169.254/latest/", False),
        ("http://[::1]/", False),
        ("http://[::1/", False),
        ("http://printer.local/", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_other_sites_are_asked(address: str, asked: bool) -> None:
    assert is_asked(address) == asked


def test_each_address_of_a_site_has_its_first_place(tmp_path: Path) -> None:
    text = (
        "---\ntitle: A\ndate: 2026-11-20\n---\n[a](https://example.org/#x) [b](/posts/a/)\n\n<https://example.org/>\n"
    )
    for path, content in {
        "content/site.yaml": "title: A\nbase_url: https://e.org/\n",
        "content/posts/a.md": text,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    site = load(tmp_path)
    assert {url: span.line for url, span in external_links(site.site, site.documents).items()} == {
        "https://example.org/": 5
    }


def test_answer_is_kept_for_a_week_and_silence_for_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0)
    asked: list[str] = []

    def answer(url: str) -> str:
        asked.append(url)
        return "404 Not Found" if url.endswith("2") else ""

    kept = tmp_path / "external.json"
    for day, count in ((0.0, 2), (0.5, 2), (1.5, 3), (8.0, 5)):
        (one,) = dead_links(PLACES, kept, answer, 1e9 + day * 24 * 3600)
        assert (one.code, one.span) == ("SG219", Span("a.md", 6))
        assert "404 Not Found" in one.message
        assert len(asked) == count


def test_host_is_asked_one_request_at_a_time_with_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(module.time, "sleep", lambda seconds: order.append(f"wait {seconds:g}"))
    dead_links(PLACES, tmp_path / "external.json", lambda url: order.append(url) or "", 0)
    assert order == ["https://a.example.org/1", "wait 1", "https://a.example.org/2"]


def test_broken_file_of_answers_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "external.json").write_text('{"https://a.example.org/1": 3}', encoding="utf-8")
    assert dead_links({"https://a.example.org/1": Span("a.md")}, tmp_path / "external.json", lambda url: "", 0) == ()


class _Host(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response({"/": 200, "/no-head": 404, "/gone": 410, "/refuses": 403}.get(self.path, 200))
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/no-head" else 410)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def host() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Host)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_host_that_refuses_programs_answers_and_a_page_that_is_gone_does_not(host: str) -> None:
    assert [ask(f"{host}{path}") for path in ("/", "/refuses", "/no-head", "/ü")] == ["", "", "", ""]
    assert ask(f"{host}/gone") == "410 Gone"
    assert "refused" in ask("http://127.0.0.1:9/")
