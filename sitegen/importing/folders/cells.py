"""Write the cells of notebooks and of executable documents: cells that can be run here, or listings."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from sitegen.importing.folders.convert import TextConversion
from sitegen.importing.folders.source import Folder, FolderText, without_marks
from sitegen.importing.foreign_values import yaml_values
from sitegen.read.notebook import words_of

_HEAD = re.compile(r"(?:[ \t]*(?:#\||//\||%%\|)[^\n]*\n|:[\w-]+:[^\n]*\n)+")
_OPTION = re.compile(r"[ \t]*(?:(?:#\||//\||%%\|)[ \t]*|:)(?P<key>[\w.-]+)[ \t]*:[ \t]*(?P<value>[^\n]*)")
_FEW_LINES = 4
"""A cell of fewer lines that shows a file stands for the file."""
KNOWN = frozenset({"label", "echo", "error", "fig-cap", "fig-alt", "tbl-cap", "lst-cap", "code-fold", "code-summary"})
"""Options of Quarto that a cell has here, too."""
_RUN = {
    "python": "python",
    "python3": "python",
    "ipython": "python",
    "ipython3": "python",
    "cuda": "cuda",
    "triton": "triton",
}
_GRAPHICS = re.compile(r"(?:knitr::)?include_graphics\(\s*[\"'](?P<path>[^\"'\n]+)[\"']")
"""The call by which a cell in R shows a file."""
_MAGIC = re.compile(r"^[ \t]*(?:%%|[%!])", re.MULTILINE)


def cell(conversion: TextConversion, language: str, code: str) -> str:
    """Return a cell with a label and the options that are known here, or a listing where it cannot be run.

    A cell with `eval: false` is a listing, and so is one with lines for a shell, which a run would execute.
    """
    options, source = cell_options(code)
    options = {**options, **_figure(options)}
    runs = _RUN.get(language.lower())
    unseen = str(options.get("include", "")).lower() == "false" or "remove-cell" in str(options.get("tags", ""))
    stopped = str(options.get("eval", "true")).lower() == "false" or "skip-execution" in str(options.get("tags", ""))
    if not runs or stopped or _MAGIC.search(source) or conversion.links.place.section != "posts" or not source.strip():
        if runs and _MAGIC.search(source):
            conversion.note("a cell with magics or shell commands, which is a listing")
        return _unrun(conversion, runs or language.lower(), options, source)
    conversion.cells = True
    label = str(options.get("label") or "")
    label = label if re.fullmatch(r"[A-Za-z][\w-]*", label) else conversion.next_label()
    kept = {"label": label, **{key: value for key, value in options.items() if key in KNOWN and key != "label"}}
    if unseen or "remove-input" in str(options.get("tags", "")):
        kept["echo"] = "false"
    elif "hide-input" in str(options.get("tags", "")):
        kept["code-fold"] = "true"
    comment = "//|" if runs == "cuda" else "#|"
    head = "".join(f"{comment} {key}: {_value(value)}\n" for key, value in kept.items())
    marks = _marks(source)
    return f"{marks}{{code-cell}} {runs}\n{head}{source.strip(chr(10))}\n{marks}"


def _figure(options: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the caption and the label that a cell of MyST-NB gives its figure, as options of Quarto."""
    inner = options.get("mystnb")
    figure = inner.get("figure") if isinstance(inner, dict) else None
    if not isinstance(figure, dict):
        return {}
    label = {"label": figure_label(str(figure["name"]))} if figure.get("name") else {}
    return label | ({"fig-cap": str(figure["caption"])} if figure.get("caption") else {})


def figure_label(name: str) -> str:
    """Return the label of a figure as it is here: `fig-plot` for `fig:plot`."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-").removeprefix("fig-").removeprefix("fig_")
    return f"fig-{plain or 'label'}"


def cell_options(code: str) -> tuple[Mapping[str, Any], str]:
    """Return the options at the head of a cell, and its code."""
    if match := re.match(r"---[ \t]*\n(.*?)^---[ \t]*\n", code, re.DOTALL | re.MULTILINE):
        with contextlib.suppress(yaml.YAMLError, ValueError, RecursionError):
            given = yaml_values(match[1])
            return (given if isinstance(given, dict) else {}), code[match.end() :]
    head = _HEAD.match(code)
    if not head:
        return {}, code
    with contextlib.suppress(yaml.YAMLError, ValueError, RecursionError):
        given = not head[0].startswith(":") and yaml_values(re.sub(r"(?m)^[ \t]*(?:#\||//\||%%\|) ?", "", head[0]))
        if isinstance(given, dict):
            return {str(key): _one_line(value) for key, value in given.items()}, code[head.end() :]
    return {match["key"]: match["value"].strip() for match in _OPTION.finditer(head[0])}, code[head.end() :]


def _one_line(value: Any) -> Any:
    return (
        str(value).lower() if isinstance(value, bool) else " ".join(value.split()) if isinstance(value, str) else value
    )


def _value(value: Any) -> str:
    text = " ".join(str(value).split())
    return (
        text
        if text in ("true", "false", "show") or re.fullmatch(r"[\w-]+", text)
        else json.dumps(text.strip("\"'"), ensure_ascii=False)
    )


def _unrun(conversion: TextConversion, language: str, options: Mapping[str, Any], source: str) -> str:
    """Return a cell that is not run as the file that it shows, or as a listing with the caption below it."""
    caption = " ".join(str(options.get("fig-cap") or options.get("tbl-cap") or "").split())
    shown = _GRAPHICS.search(source) if language == "r" and len(source.strip().split("\n")) < _FEW_LINES else None
    if not shown:
        listing = _listing(language, source)
        return f"{listing}\n\n*{caption}*\n" if caption and listing else listing
    label, alt = str(options.get("label") or ""), " ".join(str(options.get("fig-alt") or "").split())
    path = conversion.links.target(shown["path"])
    if not label.startswith("fig-"):
        return f"![{re.sub(r'[][]', '', alt or caption)}]({path})" + (f"\n\n*{caption}*" if caption else "")
    head = [f"```{{figure}} {path}", f":label: {figure_label(label)}"]
    return "\n".join([*head, *([f":alt: {alt}"] if alt else []), "", caption, "```"])


def _listing(language: str, source: str) -> str:
    marks = _marks(source)
    return f"{marks}{language}\n{source.strip(chr(10))}\n{marks}" if source.strip() else ""


def _marks(source: str) -> str:
    return "`" * max(3, 1 + max((len(run) for run in re.findall(r"^`{3,}", source, re.MULTILINE)), default=2))


def notebook_text(folder: Folder, path: str) -> FolderText:
    """Return a notebook as a text whose cells are fences; front matter is that of its first raw or Markdown cell."""
    try:
        notebook = json.loads(folder.read(path))
        parts = list(_parts(notebook))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        folder.warn("SG606", f"this is no notebook: {words_of(error)}", path)
        return FolderText(path)
    text = "\n\n".join(parts) + "\n"
    folder.texts[path] = without_marks(text)
    return folder.text(path)


def _parts(notebook: Mapping[str, Any]) -> Iterator[str]:
    language = notebook.get("metadata", {}).get("kernelspec", {}).get("language") or "python"
    for number, one in enumerate(notebook["cells"]):
        source = one["source"] if isinstance(one["source"], str) else "".join(one["source"])
        kind = one["cell_type"]
        if kind == "code" and source.strip():
            yield f"{_marks(source)}{{code-cell}} {language}\n{source.strip(chr(10))}\n{_marks(source)}"
        elif kind == "markdown" or (number == 0 and source.lstrip().startswith("---")):
            yield source.strip("\n")
