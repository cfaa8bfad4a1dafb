"""Read a notebook that is a post: JSON in; its Markdown with front matter, and the images of its outputs, out.

A cell with a label is an executable cell, whose outputs are those of `sitegen run`.  Every other cell of code is a
listing with the outputs that the notebook holds, so magics and shell commands are shown and never run.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from sitegen import inside

NOTEBOOK = re.compile(r"content/posts/[^/]+/index(?:\.[^/.]+)?\.ipynb")
"""The path of a notebook that is a post."""
_OF_PYTHON = (TypeError, AttributeError, LookupError, RecursionError)
"""The errors of a text that is JSON, but no notebook: their messages are not written for authors."""
MOST_LINES = 200
"""Most lines of an output that a page shows."""
_IMAGE = re.compile(r"(?P<folder>content/posts/[^/]+)/cell-(?P<cell>\d+)-(?P<number>\d+)\.(?:png|jpg|webp|gif|svg)")
_TITLE = re.compile(r"\A\s*#[ \t]+(?P<title>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)")
_FRONT = re.compile(r"\A\s*---[ \t]*\n(?P<yaml>.*?)^---[ \t]*(?:\n|\Z)(?P<rest>.*)", re.DOTALL | re.MULTILINE)
_OPTION = re.compile(r"^(?:#|//)\|[ \t]*(?P<key>[\w-]+)[ \t]*:[ \t]*(?P<value>[^\n]*)\n?", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MAGIC_LANGUAGES = {
    "cu": "cuda",
    "cuda": "cuda",
    "cpp": "cpp",
    "bash": "bash",
    "sh": "bash",
    "shell": "bash",
    "html": "html",
}
_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "image/svg+xml": "svg"}
"""The endings of images, the preferred kind first."""


def words_of(error: Exception) -> str:
    """Return why a text is no notebook, in words for its author."""
    return "its cells have another form" if isinstance(error, _OF_PYTHON) else str(error).split("\n", 1)[0][:100]


def notebook_text(text: str) -> str:
    """Return the Markdown of a notebook, with its front matter.  Raises ValueError when it is none."""
    cells = _cells(text)
    front, cells = _front_matter(json.loads(text), cells)
    language = _language(json.loads(text))
    parts = [part for number, cell in cells if (part := _part(cell, number, language))]
    return f"---\n{front}---\n" + "\n\n".join(parts) + "\n"


def image_names(text: str) -> tuple[str, ...]:
    """Return the names of the images within a notebook, as its text links them; none when it is no notebook."""
    try:
        return tuple(name for number, cell in _cells(text) for name, _ in _images(cell, number))
    except ValueError:
        return ()


def file_bytes(root: str | Path, path: str) -> bytes:
    """Return the content of a file of the site, or of an image within a notebook.  Raises OSError."""
    match = _IMAGE.fullmatch(path)
    try:
        return inside.read_bytes(root, path)
    except FileNotFoundError:
        if not match:
            raise
        data = _image(inside.read_bytes(root, f"{match['folder']}/index.ipynb"), path.rpartition("/")[2])
        if data is None:
            raise
        return data


@lru_cache(maxsize=4)
def _image(notebook: bytes, name: str) -> bytes | None:
    cells = _cells(notebook.decode("utf-8", "replace"))
    written = next((data for number, cell in cells for known, data in _images(cell, number) if known == name), None)
    if written is None:
        return None
    return written.encode() if name.endswith(".svg") else base64.b64decode(written)


def _cells(text: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the cells of a notebook, numbered from 1.  Raises ValueError."""
    notebook = json.loads(text)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("it has no list of cells; save it as a notebook of version 4")
    return list(enumerate(cells, 1))


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata", {})
    named = metadata.get("language_info", {}).get("name") or metadata.get("kernelspec", {}).get("language")
    return str(named or "python")


def _front_matter(
    notebook: Mapping[str, Any], cells: list[tuple[int, Mapping[str, Any]]]
) -> tuple[str, list[tuple[int, Mapping[str, Any]]]]:
    """Return the front matter as YAML, and the cells without it and without the heading that is the title."""
    yaml = ""
    if cells and cells[0][1].get("cell_type") in ("raw", "markdown") and (m := _FRONT.match(_source(cells[0][1]))):
        yaml = m["yaml"]
        rest = {**cells[0][1], "cell_type": "markdown", "source": m["rest"]}
        cells = [(cells[0][0], rest), *cells[1:]]
    given = notebook.get("metadata", {}).get("sitegen")
    if not yaml and isinstance(given, dict):
        yaml = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in given.items())
    for at, (number, cell) in enumerate(cells):
        if cell.get("cell_type") == "markdown" and _source(cell).strip():
            if not re.search(r"^title[ \t]*:", yaml, re.MULTILINE) and (title := _TITLE.match(_source(cell))):
                yaml += f"title: {json.dumps(title['title'], ensure_ascii=False)}\n"
                cells = [*cells[:at], (number, {**cell, "source": _source(cell)[title.end() :]}), *cells[at + 1 :]]
            break
    return yaml, cells


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _part(cell: Mapping[str, Any], number: int, language: str) -> str:
    """Return the Markdown of a cell."""
    source = _source(cell).strip("\n")
    if cell.get("cell_type") == "markdown":
        for at, name in enumerate(cell.get("attachments", {}), 1):
            known = dict(enumerate((one for one, _ in _images(cell, number)), 1)).get(at, "")
            source = source.replace(f"(attachment:{name})", f"({known})")
        return source
    if cell.get("cell_type") != "code" or not source.strip():
        return ""
    options = {match["key"]: match["value"].strip() for match in _OPTION.finditer(source)}
    if "label" in options and language == "python":
        return _fence("{code-cell} python", source)
    tags = cell.get("metadata", {}).get("tags", [])
    hidden = options.get("echo") == "false" or {"remove-input", "hide-input", "remove-cell"} & set(tags)
    code = "" if hidden else _fence(_code_language(source, language), _OPTION.sub("", source).strip("\n"))
    outputs = () if "remove-cell" in tags else _outputs(cell, number, options)
    return "\n\n".join(filter(None, [code, *outputs]))


def _code_language(source: str, language: str) -> str:
    magic = re.match(r"%%(\w+)", source)
    return _MAGIC_LANGUAGES.get(magic[1], language) if magic else language


def _outputs(cell: Mapping[str, Any], number: int, options: Mapping[str, str]) -> Iterator[str]:
    """Yield the outputs that the notebook holds: images, Markdown and text."""
    names = [name for name, _ in _images(cell, number)]
    words = options.get("fig-alt") or options.get("fig-cap") or f"Output of cell {number}"
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if any(kind in data for kind in _SUFFIXES):
            yield f"![{words.strip(chr(34))}]({names.pop(0)})"
        elif "text/markdown" in data:
            yield _text(data["text/markdown"])
        else:
            text = _text(data.get("text/plain", output.get("text", output.get("traceback", ""))))
            if text.strip():
                yield _fence('text filename="output of the notebook"', _shortened(_COLOUR.sub("", text).strip("\n")))


def _text(value: Any) -> str:
    between = "\n" if isinstance(value, list) and value and not str(value[0]).endswith("\n") else ""
    return between.join(map(str, value)) if isinstance(value, list) else str(value)


def _shortened(text: str) -> str:
    lines = [line.rpartition("\r")[2] for line in text.split("\n")]  # a progress bar overwrites its own line
    rest = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"… {rest} more lines"] if rest > 0 else [])])


def _images(cell: Mapping[str, Any], number: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each image within a cell, of its outputs or attached to its text, with its Base64 or SVG."""
    held = [output.get("data", {}) for output in cell.get("outputs", [])]
    held += list(cell.get("attachments", {}).values())
    count = 0
    for data in held:
        kind = next((kind for kind in _SUFFIXES if kind in data), "")
        if kind:
            count += 1
            text = _text(data[kind])
            yield f"cell-{number}-{count}.{_SUFFIXES[kind]}", text if kind.endswith("xml") else text.replace("\n", "")


def _fence(info: str, source: str) -> str:
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"^`{3,}", source, re.MULTILINE)), default=2))
    return f"{marks}{info}\n{source}\n{marks}"
