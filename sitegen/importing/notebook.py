"""Turn a Jupyter notebook into a draft with executable cells; outputs are left out, because a run makes them again.

The text of a notebook is Markdown with formulas between dollar signs already.  Two things change: the title moves into
the front matter, and the images become files beside the text.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import json
import posixpath
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.importing.plan import ImportPlan
from sitegen.model.urls import is_external
from sitegen.read.linked_files import START, fault_of_linked
from sitegen.read.notebook import words_of
from sitegen.write.scaffold import slug_of

MOST_BYTES = 64 * 2**20
_TITLE = re.compile(r"\s*#[ \t]+(?P<title>[^\n]+)(?:\n|\Z)")
_H1 = re.compile(r"^[ \t]*<h1\b[^<>\n]*>[ \t]*([^<>\n]+?)[ \t]*</h1>[ \t]*$", re.MULTILINE | re.IGNORECASE)
"""A heading in HTML, which notebooks centre or colour."""
_LABEL = re.compile(r"^#\|[ \t]*label:[ \t]*(\S+)", re.MULTILINE)
_IMAGE = re.compile(r"(!\[[^\[\]]*\]\()(?P<path>[^)\s]+)|(<img\b[^<>]*?\bsrc=[\"'])(?P<src>[^\"']+)")
_FILE = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?P<file>[^)\s#?]+)\)")
_DATA = re.compile(r"data:image/(?P<kind>png|jpeg|gif|webp|svg\+xml);base64,(?P<data>[\w+/=%]+)")
_SHELL = re.compile(
    r"^[ \t]*(?:!|%(?:pip|conda|cd|run|load)\b|%%(?:bash|sh|script|writefile|cu|cuda|cpp|html|capture)\b)", re.M
)
"""Lines that a run would give to a shell, and cells in another language."""
_TICKS = re.compile(r"^`{3,}", re.MULTILINE)


def import_notebook(file: Path, day: dt.date) -> ImportPlan:
    """Plan `content/posts/<slug>/index.md`, dated `day`, and the images that its text shows."""
    try:
        notebook = _read(file)
    except Exception as error:  # nbformat's conversion of old notebooks raises anything when a file is damaged
        return ImportPlan({}, (Diagnostic("SG606", f"this is no notebook: {words_of(error)}", Span(file.name)),))
    return _NotebookPost(file, notebook, day).plan()


def _read(file: Path) -> Any:
    """Return a notebook that keeps to its format.  Raises many kinds of exceptions."""
    import nbformat

    data = inside.read_bytes(file.parent, inside.checked(file.name), MOST_BYTES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about cells without ids, which a post does not need
        notebook = nbformat.reads(data.decode(), as_version=4)
        nbformat.validate(notebook)
    nbformat.writes(notebook).encode()  # half of a character cannot be written
    return notebook


class _NotebookPost:
    """The post that is made of a notebook."""

    def __init__(self, file: Path, notebook: Any, day: dt.date) -> None:
        self.file, self.notebook, self.day = file, notebook, day
        self.title = ""
        self.diagnostics: list[Diagnostic] = []
        self.images: dict[str, bytes | Path] = {}
        language = notebook.metadata.get("kernelspec", {}).get("language") or "python"
        self.language: str = notebook.metadata.get("language_info", {}).get("name") or language
        self.labels = {match[1] for cell in notebook.cells for match in _LABEL.finditer(cell.source)}

    def plan(self) -> ImportPlan:
        parts = [part for number, cell in enumerate(self.notebook.cells, start=1) if (part := self.cell(cell, number))]
        title = self.title or self.file.stem
        folder = f"content/posts/{slug_of(self.file.stem) or 'notebook'}"
        head = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\ndate: {self.day}\ndraft: true\n---\n"
        files: dict[str, str | bytes | Path] = {f"{folder}/index.md": head + "\n\n".join(parts) + "\n"}
        files |= {f"{folder}/{name}": content for name, content in self.images.items()}
        return ImportPlan(files, tuple(self.diagnostics), {}, notes=self.notes(folder))

    def notes(self, folder: str) -> tuple[str, ...]:
        """Return what the import did not bring: the outputs that the notebook holds, and the way that keeps them."""
        if not (number := sum(bool(cell.get("outputs")) for cell in self.notebook.cells)):
            return ()
        left_out = f"the outputs of {number} cells are" if number > 1 else "the outputs of one cell are"
        keep = f"to keep them, put the notebook itself at {folder}/index.ipynb, in place of index.md"
        return (f"{left_out} left out, because a page shows what `sitegen run` made; {keep}",)

    def cell(self, cell: Any, number: int) -> str:
        source: str = cell.source.strip("\n")
        if not source.strip():
            return ""
        if cell.cell_type == "markdown":
            return self.markdown(source, cell.get("attachments", {}), number)
        if cell.cell_type == "code" and self.language == "python" and (shell := _SHELL.search(source)):
            said = f"cell {number} has `{shell[0].strip()}`: it is shown, and not run"
            self.warn(said, "a run would install packages, load files or start programs")
            return _fence("python", source)
        if cell.cell_type == "code" and self.language == "python":
            return _fence("{code-cell} python", self.labelled(source))
        if cell.cell_type == "code":
            hint = "executable cells are Python, Triton or CUDA"
            self.warn(f"cell {number} is {self.language}: it is shown, and not run", hint)
        return _fence(self.language if cell.cell_type == "code" else "", source)

    def labelled(self, source: str) -> str:
        """Return a cell's source with a label: the results of a cell are stored under its label."""
        if _LABEL.search(source):
            return source
        number = 1
        while (label := f"cell-{number}") in self.labels:
            number += 1
        self.labels.add(label)
        return f"#| label: {label}\n{source}"

    def markdown(self, source: str, attachments: Mapping[str, Mapping[str, str]], number: int) -> str:
        source = _H1.sub(r"# \1", source)
        if not self.title and (match := _TITLE.match(source)):
            self.title = match["title"].rstrip().rstrip("#").rstrip()
            source = source[match.end() :].strip("\n")

        def moved(match: re.Match[str]) -> str:
            written = match["path"] or match["src"]
            return match[0][: len(match[0]) - len(written)] + self.image(written, attachments, number)

        for match in _FILE.finditer(source):
            self.copy_linked(match["file"])
        return _IMAGE.sub(moved, source)

    def copy_linked(self, written: str) -> None:
        """Copy a file to which the text links, such as the source of a kernel, from the notebook's folder or below."""
        path = posixpath.normpath(unquote(written))
        if is_external(written) or inside.is_hidden(path) or path.endswith(".md"):
            return
        with contextlib.suppress(OSError):
            if fault_of_linked(path, inside.read_start(self.file.parent, path, START)) is None:
                self.images[path] = inside.resolved(self.file.parent, path)

    def image(self, written: str, attachments: Mapping[str, Mapping[str, str]], number: int) -> str:
        """Return the address of an image: the name of its copy beside the text.

        An image on another host is reported and keeps its address, and so does one that is missing, hidden, or outside
        of the notebook's folder.
        """
        if within := _DATA.fullmatch(written):
            suffix = {"jpeg": "jpg", "svg+xml": "svg"}.get(within["kind"], within["kind"])
            name = f"cell-{number}-image-{len(self.images) + 1}.{suffix}"
            with contextlib.suppress(ValueError):
                self.images[name] = base64.b64decode(unquote(within["data"]), validate=True)
                return name
        name = unquote(written.removeprefix("attachment:"))
        beside = re.sub(r"[^\w.+-]+", "-", Path(name).name)
        if written.startswith("attachment:") and name in attachments:
            beside = f"cell-{number}-{beside}"
            with contextlib.suppress(ValueError, TypeError, StopIteration):  # an attachment that is no file
                self.images[beside] = base64.b64decode(next(iter(attachments[name].values())))
                return beside
        path = posixpath.normpath(name)
        if not is_external(name) and not inside.is_hidden(path):
            with contextlib.suppress(OSError):
                self.images[beside] = inside.resolved(self.file.parent, path)
                return beside
        self.warn(f"the image `{written[:60]}` of cell {number} is not beside the notebook", "put it beside the text")
        return written

    def warn(self, message: str, hint: str) -> None:
        self.diagnostics.append(Diagnostic("SG603", message, Span(self.file.name), hint, Severity.WARNING))


def _fence(info: str, source: str) -> str:
    marks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(source)), default=2))
    return f"{marks}{info}\n{source}\n{marks}"
