"""Twenty attacks on build, serve, accept and run that no review had named; each test says what stops the attack."""

from __future__ import annotations

import re
import runpy
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from sitegen.execute.notebook import run_notebook
from sitegen.model.job import Key, NotebookCell, NotebookJob

machine = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("gpu_machine.py"))))
Site = Any
CLIENT = Path(__file__).parents[2] / "sitegen" / "serve" / "client.js"


def post(site: Site, body: str = "Text.", front: str = "", title: str = "First") -> None:
    site.write("content/posts/first.md", f"---\ntitle: {title}\ndate: 2026-11-20\n{front}---\n{body}\n")


def refused(site: Site, *words: str) -> None:
    """Check that a build ends with a message that has these words, and publishes nothing."""
    done = site.run("build")
    assert done.refused, done.said
    assert [word for word in words if word not in done.said] == [], done.said
    assert site.published == b"" and site.untouched


# ---------------------------------------------------------------------------------------------------------- build


def test_1_object_of_python_in_a_yaml_file(site: Site) -> None:
    site.write("series/a.yaml", "title: !!python/object/apply:os.system [touch pwned]\nposts: [first]\n")
    refused(site, "series/a.yaml:1")
    assert not list(site.root.rglob("pwned"))


def test_2_expression_of_a_template_in_a_text_is_text(site: Site) -> None:
    post(site, "Seven: {{ 7 * 7 }} {% include '/etc/passwd' %}", title='"{{ 7 * 7 }}"')
    assert site.run("build").status == 0
    page = (site.root / "public/posts/first/index.html").read_text()
    assert "<title>{{ 7 * 7 }}" in page and "{% include" in page and "root:" not in page


def test_3_entry_of_a_bibliography_that_reads_a_file(site: Site) -> None:
    entry = "@misc{a, title = {\\input{/etc/passwd} \\write18{touch pwned} <script>f()</script>}, year = 2026}\n"
    site.write("content/references.bib", entry)
    post(site, "As in [@a].")
    site.run("build")
    assert b"root:" not in site.published and b"<script>f()" not in site.published
    assert not list(site.root.rglob("pwned"))


@pytest.mark.parametrize(
    "formula", [r"\href{javascript:f()}{x}", r"\url{javascript:f()}", r"\includegraphics{/etc/passwd}"]
)
def test_4_formula_that_is_a_link_or_a_file(site: Site, formula: str) -> None:
    post(site, f"${formula}$")
    site.run("build")
    assert not re.search(rb'(href|src)="[^"]*(javascript|passwd)', site.published)


def test_5_diagram_with_a_script_behind_a_box(site: Site) -> None:
    post(site, '```{mermaid}\nflowchart TD\n  A --> B\n  click A "javascript:f()"\n  click B call f()\n```')
    site.run("build")
    assert not re.search(rb"<[^>]*(href|onclick)=.?(javascript|call f)", site.published)


def test_6_title_that_ends_the_title(site: Site) -> None:
    post(site, title='"</title><script>f()</script>\\"><img src=x onerror=f()>"')
    assert site.run("build").status == 0
    pages = b"".join(
        data for name, data in site.files(site.root / "public").items() if name.endswith((".html", ".xml"))
    )
    assert b"First" not in pages and b"<script>f()" not in pages and b"<img src=x" not in pages


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ('lang: "en\\" onload=\\"f()"\n', "lang"),
        ("discuss: javascript:f()\n", "discuss"),
        ("cover: ../../../victim/secret\n", "cover"),
        ('aliases: ["//evil.example/"]\n', "alias"),
        ('permalink: "/%2e%2e/%2e%2e/x/"\n', "permalink"),
    ],
)
def test_7_front_matter_that_is_an_attribute_an_address_or_a_path(site: Site, front: str, said: str) -> None:
    post(site, front=front)
    refused(site, "content/posts/first.md", said)


@pytest.mark.parametrize(
    "url", ["javascript:f()", 'https://a.example/"><script>', "https://a.example/\\n", "file:///etc/"]
)
def test_8_address_of_the_site_that_is_none(site: Site, url: str) -> None:
    site.write("content/site.yaml", f"title: Notes\nbase_url: '{url}'\n")
    refused(site, "content/site.yaml:2")


def test_9_tag_that_is_a_path(site: Site) -> None:
    post(site, front='tags: ["../../../victim/x", "..", "/etc/x", "a/b"]\n')
    site.run("build")
    assert site.untouched
    inside = (site.root / "public").resolve()
    assert all(path.resolve().is_relative_to(inside) for path in inside.rglob("*"))
    assert {path.name for path in site.root.iterdir()} <= {"content", "public"}


def test_10_words_that_turn_around_and_colour_the_terminal(site: Site) -> None:
    """A mistake quotes the line: its escapes must not reach the terminal of the one who builds."""
    post(site, "See [x](no\x1b]0;pwned\x07\x1b[2J.md) and {vlaue}`a\x9b31m`.")
    done = site.run("build")
    assert done.status == 1 and "error[" in done.said
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.said)


# ---------------------------------------------------------------------------------------------------------- accept


@pytest.fixture
def kernel_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: Path = machine.make_site(tmp_path / "kernels")
    monkeypatch.chdir(made)
    return made


def accept(site: Path, change: Any = lambda head, entries: None, damage: Any = lambda path: None) -> Any:
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip", change)
    damage(result)
    return machine.sitegen("accept", str(result))


def repacked(path: Path, change: Any) -> None:
    """Write a zip again, with each entry as `change` returns it: pairs of its header and its content."""
    with zipfile.ZipFile(path) as archive:
        entries = [(zipfile.ZipInfo(info.filename), archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in change(entries):
            archive.writestr(info, data)


def test_11_entry_that_is_there_twice(kernel_site: Path) -> None:
    """Readers of zip differ in which of two entries of one name they take."""
    before = machine.files_below(kernel_site)
    with pytest.warns(UserWarning, match="Duplicate"):
        done = accept(kernel_site, damage=lambda path: repacked(path, lambda entries: [*entries, entries[-1]]))
    assert done.exit_code == 1 and "SG401" in done.stderr
    assert machine.files_below(kernel_site) == before


def test_12_entry_that_is_a_link(kernel_site: Path) -> None:
    def link(entries: list[Any]) -> list[Any]:
        made = zipfile.ZipInfo("results/link.json")
        made.external_attr = 0o120777 << 16
        return [*entries, (made, b"/etc/passwd")]

    done = accept(kernel_site, damage=lambda path: repacked(path, link))
    assert done.exit_code == 1 and "SG401" in done.stderr


def test_13_result_that_colours_the_terminal(kernel_site: Path) -> None:
    """An error of a job is printed when the result is accepted."""

    def colour(head: Any, entries: Any) -> None:
        entries["kernel"].update(evaluations=[], artefacts={}, error="\x1b]0;pwned\x07\x1b[2Jdone\x9b31m")

    done = accept(kernel_site, colour)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stderr + done.stdout)


def test_14_message_of_a_failed_kernel_that_is_markup(kernel_site: Path) -> None:
    def fails(head: Any, entries: Any) -> None:
        entries["kernel"]["evaluations"][0].update(
            status="runtime_error", message="</td><script>f()</script>", performance=None, correctness=None, samples=""
        )

    done = accept(kernel_site, fails)
    assert done.exit_code in (0, 1) and "stored" in done.stderr, done.stderr
    assert machine.sitegen("build", "--as-of", "2026-02-01").exit_code == 0
    pages = b"".join(path.read_bytes() for path in (kernel_site / "public").rglob("*.html"))
    assert b"<script>f()" not in pages and b"&lt;script&gt;f()" in pages


def test_15_output_of_a_cell_that_is_markup(kernel_site: Path) -> None:
    def prints(head: Any, entries: Any) -> None:
        entries["notebook"]["cells"][0]["outputs"] = [{"kind": "text", "text": "<img src=x onerror=f()>\x1b[31m"}]

    assert accept(kernel_site, prints).exit_code == 0
    assert machine.sitegen("build", "--as-of", "2026-02-01").exit_code == 0
    pages = b"".join(path.read_bytes() for path in (kernel_site / "public").rglob("*.html"))
    assert b"<img src=x" not in pages and b"\x1b" not in pages


# ------------------------------------------------------------------------------------------------------------- run


def cells(*sources: str) -> Any:
    several = tuple(NotebookCell(f"c{number}", text, Key("k"), timeout_s=30.0) for number, text in enumerate(sources))
    return run_notebook(NotebookJob("posts/p", "p", several, {}))


def test_16_cell_that_leaves_a_process_behind() -> None:
    """A daemon in a session of its own would disturb what is measured next, or answer for it."""
    started = "import subprocess\nprint(subprocess.Popen(['sleep', '3117'], start_new_session=True).pid)"
    pid = int(cells(started).cells[0].outputs[0].text)
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the process of the cell lives"
        time.sleep(0.05)


def test_17_cell_that_waits_for_words_from_a_terminal() -> None:
    """`input` would wait until the time of the cell is over."""
    (cell,) = cells("input('the token: ')").cells
    assert str(cell.status) == "runtime_error" and cell.duration_s < 20


def test_18_cell_that_shows_a_script() -> None:
    shown = cells("from IPython.display import HTML, SVG, Javascript, display\ndisplay(HTML('<script>f()</script>'))")
    assert not any("<script" in output.text for output in shown.cells[0].outputs)


# ----------------------------------------------------------------------------------------------------------- serve


@pytest.fixture
def port(site: Site) -> Iterator[int]:
    command = [sys.executable, "-m", "sitegen", "serve", "--port", "0"]
    environment = {"PYTHONPATH": str(CLIENT.parents[2]), "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(site.cache)}
    server = subprocess.Popen(command, cwd=site.root, env=environment, stderr=subprocess.PIPE, text=True)
    assert server.stderr
    for line in server.stderr:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            yield int(found[1])
            break
    server.kill()
    server.wait()
    server.stderr.close()


def answered(port: int, request: bytes) -> bytes:
    """Return the first line of the answer; empty when the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        try:
            connection.sendall(request)
            return connection.recv(4096).partition(b"\r\n")[0]
        except ConnectionError:
            return b""


HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def test_19_requests_that_are_too_large_or_of_another_kind(port: int) -> None:
    assert not answered(port, b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 2")
    assert not answered(
        port, HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 900) for n in range(1000)) + b"\r\n"
    ).startswith(b"HTTP/1.1 2")
    for method in (b"POST", b"PUT", b"DELETE", b"PATCH", b"TRACE", b"CONNECT"):
        assert not answered(port, HEAD.replace(b"GET", method) + b"Content-Length: 9\r\n\r\nanything!").startswith(
            b"HTTP/1.1 2"
        )
    smuggled = HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"
    answered(port, smuggled)
    assert answered(port, HEAD + b"\r\n").startswith(b"HTTP/1.1 200")


def soon(port: int, status: bytes) -> bool:
    """Ask until the server answers with a status; it accepts connections and notices their end one after the other."""
    deadline = time.monotonic() + 20
    while answered(port, HEAD + b"\r\n").split()[1:2] != [status]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_20_four_hundred_connections_that_say_nothing(port: int) -> None:
    """Above the cap of connections a request is refused, and the server goes on when they are closed."""
    silent = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(400)]
    assert soon(port, b"503")
    for one in silent:
        one.close()
    assert soon(port, b"200")


def test_overlay_shows_mistakes_as_text() -> None:
    """Not an attack: the overlay quotes what an author wrote, and must never read it as HTML."""
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", CLIENT.read_text())
