"""Time `sitegen serve` from a save to the new page over HTTP.

    python tests/benchmarks/preview.py --posts 5000 --edits 50 --json figures.json

The script builds the site once, so that the cache is warm.  It starts the server and times its first page.  It saves
each edit to another post, and requests the page of that post until the page shows the edit.  A tab is open meanwhile,
which waits for events as a browser does.  At last the script saves a template that every page uses, and requests the
tab's page in the same way.  It also prints the processor time of the server, because other work on the machine changes
that less.  The processor time of an edit is a mean, with all answers to requests and the rest before the edit.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from corpus import Corpus
from process import CommandError, run, sitegen, version

HOST = "127.0.0.1"
EVENTS = "/_sitegen/events"
ASKED_EVERY_S = 0.005
REST_S = 0.5
"""Seconds between a page that is new and the next save."""
LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    posts: int
    edits: int
    first_page_ms: float
    """Milliseconds from the start of the process to the first page."""
    median_ms: float
    p95_ms: float
    longest_ms: float
    template_ms: float
    start_cpu_ms: float
    """Processor time of the server until its first page, in ms."""
    edit_cpu_ms: float
    """Mean processor time of the server for an edit, in ms."""
    template_cpu_ms: float


def served(corpus: Corpus, program: str, edits: int) -> Served:
    """Serve the site and time the saves.  Raises CommandError when a page does not come."""
    run([program, "build"], corpus.root, XDG_CACHE_HOME=str(corpus.root.with_name("cache")))
    began = time.perf_counter()
    with _serving(corpus.root, program) as (port, process):
        tab = f"/{corpus.url(corpus.posts // 2)}"
        first_page_ms = _until(port, tab, "</html>", began)
        cpu_ms = [_cpu_ms(process)]
        with _open_tab(port, tab):
            times = [_edit_ms(corpus, port, number % corpus.posts) for number in range(edits)]
            cpu_ms.append(_cpu_ms(process))
            time.sleep(REST_S)
            began = time.perf_counter()
            corpus.edit_template("template-saved")
            template_ms = _until(port, tab, "template-saved", began)
            cpu_ms.append(_cpu_ms(process))
    started, edited, ended = cpu_ms
    return Served(
        posts=corpus.posts,
        edits=edits,
        first_page_ms=first_page_ms,
        median_ms=median(times),
        p95_ms=percentile(times, 0.95),
        longest_ms=max(times),
        template_ms=template_ms,
        start_cpu_ms=started,
        edit_cpu_ms=(edited - started) / edits,
        template_cpu_ms=ended - edited,
    )


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that a share `part` of all values does not exceed."""
    return sorted(values)[math.ceil(part * len(values)) - 1]


def _edit_ms(corpus: Corpus, port: int, number: int) -> float:
    time.sleep(REST_S)
    began = time.perf_counter()
    corpus.edit(number, f"saved-{number}")
    return _until(port, f"/{corpus.url(number)}", f"saved-{number}", began)


def _cpu_ms(process: int) -> float:
    """Return the processor time of a process and of its children that ended; 0 where no system reports it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _serving(root: Path, program: str) -> Iterator[tuple[int, int]]:
    """Start the server on a free port, yield its port and process, and end it as Ctrl-C does."""
    port = _free_port()
    with tempfile.TemporaryFile() as said:
        command = [program, "serve", "--port", str(port)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(root.with_name("cache"))}
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        try:
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind((HOST, 0))
        port: int = opened.getsockname()[1]
        return port


@contextlib.contextmanager
def _open_tab(port: int, page: str) -> Iterator[None]:
    """Open a stream of the events of `page`, which a thread reads as they come."""
    with socket.create_connection((HOST, port)) as tab:
        tab.sendall(f"GET {EVENTS}?page={page} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        reader = threading.Thread(target=_drain, args=(tab,))
        reader.start()
        try:
            yield
        finally:
            tab.shutdown(socket.SHUT_RDWR)
            reader.join()


def _drain(tab: socket.socket) -> None:
    """Read a stream until it is closed; a server that was still writing then resets the connection."""
    with contextlib.suppress(ConnectionResetError):
        while tab.recv(1 << 16):
            pass


def _until(port: int, page: str, text: str, began: float) -> float:
    """Return the milliseconds from `began` until `page` holds `text`."""
    while time.perf_counter() - began < LONGEST_S:
        if text in _page(port, page):
            return (time.perf_counter() - began) * 1000
        time.sleep(ASKED_EVERY_S)
    raise CommandError(f"{page} does not show {text} after {LONGEST_S:g} s")


def _page(port: int, page: str) -> str:
    """Return the text of a page; empty when the server does not answer with a page."""
    connection = http.client.HTTPConnection(HOST, port, timeout=LONGEST_S)
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        return answer.read().decode() if answer.status == http.HTTPStatus.OK else ""
    except OSError:
        return ""
    finally:
        connection.close()


def table(figures: Served) -> str:
    return (
        f"| posts | first page | save to page: median | 95 % within | longest | edits | a template |\n"
        f"|{' ---: |' * 7}\n"
        f"| {figures.posts} | {figures.first_page_ms:.0f} ms | {figures.median_ms:.0f} ms | {figures.p95_ms:.0f} ms "
        f"| {figures.longest_ms:.0f} ms | {figures.edits} | {figures.template_ms:.0f} ms |\n"
        f"| its processor time | {figures.start_cpu_ms:.0f} ms | mean {figures.edit_cpu_ms:.0f} ms | | | "
        f"| {figures.template_cpu_ms:.0f} ms |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--work", type=Path, help="make the site in this folder (default: the system's for such)")
    parser.add_argument("--sitegen", default=sitegen(), help="the program to time (default: this environment's)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.work) as work:
        corpus = Corpus(Path(work) / "site", asked.posts)
        corpus.write()
        figures = served(corpus, asked.sitegen, asked.edits)
    print(f"{version(asked.sitegen)}\n\n{table(figures)}")
    if asked.json:
        facts = {"sitegen": version(asked.sitegen), "python": sys.version.split()[0], **asdict(figures)}
        asked.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
