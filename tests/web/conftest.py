"""Two built sites, served as by a strict host, and the report of headless Chromium about their pages.

One site is made for this: it has a page of every kind.  The other is the project's own.  What the browser saw is one
JSON report for all tests, because starting it and loading pages is what takes time.  `make test-web` runs these.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import mimetypes
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DAY = "2026-11-22"
DAY_OF_OWN = "2026-11-27"
"""The day of the project's site and of the manual; a build of an earlier day leaves out the posts of this one."""
POSTS_BESIDES = 55
"""Number of further posts, so that lists have a second page."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
PAGES = {
    "home": "index.html",
    "archive": "posts/index.html",
    "archive, page 2": "posts/page/2/index.html",
    "tags": "tags/index.html",
    "tag": "tags/triton/index.html",
    "categories": "categories/index.html",
    "category": "categories/kernels/index.html",
    "series list": "series/index.html",
    "series": "series/route/index.html",
    "review": "series/route/review/index.html",
    "all posts": "series/route/all/index.html",
    "post": "posts/everything/index.html",
    "post in Korean": "ko/posts/korean/index.html",
    "home in Korean": "ko/index.html",
    "exercises": "exercises/index.html",
    "exercise": "exercises/softmax/index.html",
    "kernels": "kernels/index.html",
    "kernel": "kernels/softmax/index.html",
    "records": "records/index.html",
    "predictions": "predictions/index.html",
    "ceilings": "ceilings/nvidia-h200/index.html",
    "changes": "kernels/softmax/nvidia-h200-changes/index.html",
    "worklog": "worklog/index.html",
    "day": "worklog/2026-11-20/index.html",
    "tasks": "worklog/tasks/index.html",
    "week": "worklog/2026-w47/index.html",
    "month": "worklog/2026-11/index.html",
    "year": "worklog/2026/index.html",
    "terms": "terms/index.html",
    "term": "terms/warp/index.html",
    "concepts": "concepts/index.html",
    "page": "about/index.html",
    "404": "404.html",
    "search": "search/index.html",
    "redirect": "old/everything/index.html",
}
"""Pages of the made site, one of every kind."""
OWN = {
    "own home": "index.html",
    "own post": "posts/softmax/index.html",
    "own series": "series/gpu-systems/index.html",
    "own review": "series/gpu-systems/review/index.html",
    "own posts": "series/gpu-systems/all/index.html",
    "own kernel": "kernels/softmax/index.html",
    "own day": "worklog/2026-11-21/index.html",
    "own links": "worklog/links/index.html",
}
"""Pages of the project's site that differ most from the made ones."""


@dataclass(frozen=True, slots=True)
class Site:
    """A built site and the path at which it is served."""

    folder: Path
    base: str
    """`/one/of-each/`"""
    origin: str

    def url(self, path: str) -> str:
        return f"{self.origin}{self.base}{quote(path.removesuffix('index.html'))}"

    @property
    def pages(self) -> list[str]:
        return sorted(file.relative_to(self.folder).as_posix() for file in self.folder.rglob("*.html"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.web)


def made_site(root: Path) -> Path:
    """The site with a page of every kind, with the kernels of this repository and their records."""
    shutil.copytree(HERE / "site", root)
    shutil.copytree(ROOT / "kernels", root / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    for number in range(POSTS_BESIDES):
        text = f"---\ntitle: Besides, {number}\ndate: 2026-{1 + number // 28:02}-{1 + number % 28:02}\n---\nShort.\n"
        (root / f"content/posts/besides-{number}.md").write_text(text)
    return root


def build(root: Path, output: Path, day: str = DAY) -> Path:
    command = [sys.executable, "-m", "sitegen", "build", "--quiet", "--out", str(output), "--as-of", day]
    subprocess.run(command, cwd=root, check=True)
    return output


class Host(BaseHTTPRequestHandler):
    """A server of files below the base path of their site, compressed, with the page's policy as a header, too."""

    protocol_version = "HTTP/1.1"
    mounted: dict[str, Path]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        base = next((base for base in self.mounted if path.startswith(base)), "")
        inside = path.removeprefix(base)
        file = (
            self.mounted[base] / (f"{inside}index.html" if inside.endswith("/") or not inside else inside)
            if base
            else None
        )
        if file is not None and file.is_dir():
            return self.answer(301, b"", location=f"{self.path}/")
        if file is None or not file.is_file():
            missing = self.mounted[base] / "404.html" if base else None
            return self.answer(404, missing.read_bytes() if missing else b"", kind="text/html")
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return self.answer(200, file.read_bytes(), kind=kind, policy=POLICY)

    def answer(self, status: int, data: bytes, *, kind: str = "", location: str = "", policy: str = "") -> None:
        text = kind.startswith("text/") or kind.endswith(("javascript", "xml", "json"))
        headers = {"Content-Type": f"{kind}; charset=utf-8" if text else kind, "Location": location}
        if text and "gzip" in self.headers.get("Accept-Encoding", ""):
            data = gzip.compress(data)
            headers["Content-Encoding"] = "gzip"
        self.send_response(status)
        headers |= {
            "Content-Security-Policy": policy,
            "Content-Length": str(len(data)),
            "Cache-Control": "max-age=3600",
        }
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def host() -> Iterator[tuple[str, dict[str, Path]]]:
    """The origin of the host, and its sites by base path."""
    mounted: dict[str, Path] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Mounted", (Host,), {"mounted": mounted}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", mounted
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def made(host: tuple[str, dict[str, Path]], tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("made")
    return served(host, "/one/of-each/", build(made_site(folder / "site"), folder / "public"))


@pytest.fixture(scope="session")
def own(host: tuple[str, dict[str, Path]], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The project's site, built from a copy, so that tests write nothing into the checkout."""
    folder = tmp_path_factory.mktemp("own")
    for room in ("content", "kernels", "series"):
        shutil.copytree(ROOT / room, folder / "site" / room, ignore=shutil.ignore_patterns("__pycache__"))
    return served(host, "/bytes-in-flight/", build(folder / "site", folder / "public", DAY_OF_OWN))


@pytest.fixture(scope="session")
def docs(host: tuple[str, dict[str, Path]], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The documentation of the program, built."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs", folder / "site", ignore=shutil.ignore_patterns("public", ".sitegen", "__pycache__"))
    shutil.copytree(ROOT / "kernels/sum", folder / "site/kernels/sum", dirs_exist_ok=True)
    return served(host, "/sitegen/", build(folder / "site", folder / "public", DAY_OF_OWN))


def served(host: tuple[str, dict[str, Path]], base: str, folder: Path) -> Site:
    origin, mounted = host
    mounted[base] = folder
    return Site(folder, base, origin)


def run_node(script: str, given: object, timeout_s: int = 1500) -> Any:
    found = subprocess.run(
        ["node", str(HERE / script)],
        input=json.dumps(given),
        env={**os.environ, "CHROME_PATH": chromium()},
        stdout=subprocess.PIPE,
        text=True,
        timeout=timeout_s,
        check=True,
    )
    return json.loads(found.stdout)


def look(pages: dict[str, tuple[Site, str]], plain: bool) -> dict[str, Any]:
    """Return the browser's report on each page by name; `plain` asks also for what is on it without script.

    The largest pages come first: the page with all posts takes minutes, in which the other core looks at the rest.
    """
    by_size = sorted(pages.items(), key=lambda item: size_bytes(*item[1]), reverse=True)
    given = {"pages": {name: site.url(path) for name, (site, path) in by_size}, "plain": plain}
    report: dict[str, Any] = run_node("look.mjs", given)
    return report


def size_bytes(site: Site, path: str) -> int:
    return (site.folder / path).stat().st_size


def chromium() -> str:
    return shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture(scope="session")
def node() -> Callable[[str, object], Any]:
    """Return the answer of a script of this folder, which reads and writes JSON."""
    return run_node


@pytest.fixture(scope="session")
def look_at_all() -> Callable[[Site], dict[str, Any]]:
    """Return the browser's report on every page of a site by path, as the site is with script."""
    return lambda site: look({path: (site, path) for path in site.pages}, plain=False)


@pytest.fixture(scope="session")
def patterns(made: Site, own: Site) -> dict[str, tuple[Site, str]]:
    """A page of every kind, by name: its site, and its path."""
    return {name: (made, path) for name, path in PAGES.items()} | {name: (own, path) for name, path in OWN.items()}


@pytest.fixture(scope="session")
def looked_at(patterns: dict[str, tuple[Site, str]]) -> dict[str, Any]:
    """The browser's report on each page by name, wide and narrow, in light and dark, and without script."""
    return look(patterns, plain=True)


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Any:
    """Add a table to the summary of the run."""
    tables: list[list[str]] = request.config.stash.setdefault(TABLES, [])
    return tables.append


TABLES = pytest.StashKey[list[list[str]]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for table in config.stash.get(TABLES, []):
        for line in table:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def aligned() -> Callable[[Sequence[Sequence[object]]], list[str]]:
    return in_columns


def in_columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return rows as columns of text: the first to the left, numbers to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in texts
    ]
