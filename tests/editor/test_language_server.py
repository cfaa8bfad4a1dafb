"""The language server, spoken to over stdin and stdout as an editor does it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
POST = "content/posts/in-a-folder/index.md"
LIMIT_S = 60


class Editor:
    """An editor that has opened a site."""

    def __init__(self, site: Path) -> None:
        self.site = site
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        command = ["timeout", str(LIMIT_S), sys.executable, "-m", "sitegen", "lsp"]
        self.server = subprocess.Popen(
            command, cwd=site, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self.told: dict[str, list[Any]] = {}
        """The last diagnostics of each file."""
        self.ask("initialize", {"processId": None, "rootUri": self.uri(""), "capabilities": {}})
        self.tell("initialized", {})

    def uri(self, path: str) -> str:
        return (self.site / path).as_uri()

    def tell(self, method: str, params: dict[str, Any], **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self.tell(method, params, id=self._number)
        while True:
            heard = self.hear()
            if heard.get("id") == self._number and "method" not in heard:
                return heard["result"]

    def hear(self) -> dict[str, Any]:
        """Return the next message; diagnostics are also remembered."""
        assert self.server.stdout
        length = 0
        while (line := self.server.stdout.readline().strip()) or not length:
            assert line, "the server has ended"
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        heard: dict[str, Any] = json.loads(self.server.stdout.read(length))
        if heard.get("method") == "textDocument/publishDiagnostics":
            path = heard["params"]["uri"].removeprefix(self.uri("") + "/")
            self.told[path] = heard["params"]["diagnostics"]
        return heard

    def open(self, path: str, text: str) -> None:
        document = {"uri": self.uri(path), "languageId": "markdown", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def type(self, path: str, text: str, version: int) -> None:
        params = {"textDocument": {"uri": self.uri(path), "version": version}, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", params)

    def diagnostics(self, path: str) -> list[Any]:
        """Return the next diagnostics of a file."""
        self.told.pop(path, None)
        while path not in self.told:
            self.hear()
        return self.told[path]

    def at_end_of(self, path: str, text: str, version: int) -> dict[str, Any]:
        """Type a text, and return the place behind its last character."""
        self.type(path, text, version)
        lines = text.split("\n")
        position = {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le")) // 2}
        return {"textDocument": {"uri": self.uri(path)}, "position": position}

    def offered(self, path: str, text: str, version: int) -> list[str]:
        found = self.ask("textDocument/completion", self.at_end_of(path, text, version))
        return [item["label"] for item in found["items"]]

    def defined(self, path: str, text: str, version: int) -> str:
        found = self.ask("textDocument/definition", self.at_end_of(path, text, version))
        place = found["range"]["start"]["line"] if found else ""
        return f"{found['uri'].removeprefix(self.uri('') + '/')}:{place}" if found else ""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    site = tmp_path_factory.mktemp("edited") / "site"
    shutil.copytree(ROOT / "tests/sites/every_form", site)
    editor = Editor(site)
    editor.open(POST, (site / POST).read_text("utf-8"))
    yield editor
    editor.ask("shutdown", {})
    editor.tell("exit", {})
    editor.server.communicate(timeout=LIMIT_S)
    assert editor.server.returncode == 0


def test_mistake_is_shown_while_the_text_is_not_saved_and_goes_when_it_is_mended(editor: Editor) -> None:
    saved = (editor.site / POST).read_text("utf-8")
    editor.type(POST, f"{saved}\n“𝕏” {{term}}`wrap`\n", 2)
    (one,) = (d for d in editor.diagnostics(POST) if d.get("code") == "SG212")
    assert "did you mean `warp`?" in one["message"]
    line = saved.count("\n") + 1
    assert one["range"]["start"] == {"line": line, "character": 12}, "columns count UTF-16"
    assert (editor.site / POST).read_text("utf-8") == saved
    editor.type(POST, saved, 3)
    assert [d for d in editor.diagnostics(POST) if d.get("code") == "SG212"] == []


HEAD = "---\ntitle: A\ndate: 2026-11-20\n---\n"


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (POST, "---\ntitle: A\nde", {"description", "needs"}),
        (POST, "---\ntitle: A\ndraft: ", {"true", "false"}),
        (POST, "---\ntitle: A\nkernels: [", {"scale"}),
        (POST, f"{HEAD}```{{", {"kernel", "benchmark", "note", "data-table"}),
        (POST, f"{HEAD}```{{kernel}} ", {"scale", "scale/tile", "scale/plain"}),
        (POST, f"{HEAD}```{{benchmark}} scale\n:", {"workloads", "dtypes", "columns"}),
        (POST, f"{HEAD}```{{benchmark}} scale\n:workloads: ", {"large"}),
        (POST, f"{HEAD}```{{benchmark}} scale\n:columns: [", {"of-ceiling"}),
        (POST, f"{HEAD}See {{", {"value", "term"}),
        (POST, f"{HEAD}See {{term}}`", {"warp"}),
        (POST, f"{HEAD}See {{value}}`", {"scale/tile", "scale/tile@large", "ceiling"}),
        (POST, f"{HEAD}See {{value}}`scale/tile@large ", {"bandwidth", "of-ceiling"}),
        (POST, f"{HEAD}See [@", {"roofline"}),
        (POST, f"{HEAD}See [it](", {"/kernels/scale/", "/posts/in-a-file/"}),
        ("kernels/scale/kernel.yaml", "kernel: scale\nto", {"tolerance", "workloads"}),
        ("kernels/scale/kernel.yaml", "kernel: scale\ndtypes: [", {"float32", "bfloat16"}),
        ("kernels/scale/kernel.yaml", "kernel: scale\nimplementations:\n  - na", {"name", "launch", "predicts"}),
        ("kernels/scale/kernel.yaml", "implementations:\n  - name: a\n    launch: {gr", {"grid", "block"}),
        ("content/site.yaml", "title: A\nfeeds: [", {"tags", "worklog"}),
        ("content/site.yaml", "title: A\nmenu:\n  - {ti", {"title", "link"}),
        ("series/in-phases.yaml", "title: A\nphases:\n  - title: One\n    posts: [", {"in-a-file", "in-a-folder"}),
    ],
)
def test_words_that_fit_are_offered(editor: Editor, path: str, text: str, words: set[str]) -> None:
    if path != POST:
        editor.open(path, text)
    offered = editor.offered(path, text, 10)
    assert words - set(offered) == set()
    if path != POST:
        editor.tell("textDocument/didClose", {"textDocument": {"uri": editor.uri(path)}})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("```{kernel} scale", "kernels/scale/kernel.yaml:0"),
        ("{value}`scale/tile", "kernels/scale/tile.py:0"),
        ("{term}`warp", "content/terms/warp.md:1"),
        ("[@roofline", "content/references.bib:0"),
        ("[](/posts/in-a-file", "content/posts/in-a-file.md:1"),
        ("A {#fig-a}\n\n@fig-a", f"{POST}:4"),
        ("nothing-of-this-name", ""),
    ],
)
def test_name_leads_to_its_definition(editor: Editor, text: str, place: str) -> None:
    assert editor.defined(POST, HEAD + text, 20) == place


def test_site_that_is_broken_is_still_served(editor: Editor) -> None:
    editor.open("content/site.yaml", "title: [\n")
    assert editor.diagnostics("content/site.yaml")
    editor.tell("textDocument/didClose", {"textDocument": {"uri": editor.uri("content/site.yaml")}})
    assert editor.diagnostics("content/site.yaml") == []
    assert "scale" in editor.offered(POST, f"{HEAD}```{{kernel}} ", 30)
