"""Turn the cells of a post into a Jupyter notebook with the stored outputs, and into a Python program.

A notebook is written as JSON here, because importing nbformat would take longer than printing a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sitegen.model.cell_code import cell_code
from sitegen.model.document import Cell
from sitegen.model.kernel import Language
from sitegen.model.prelude import prelude
from sitegen.model.record import Output
from sitegen.render.downloads.parts import Part, import_lines, part_of, quoted
from sitegen.render.downloads.programs import install_all

_IPYTHON = re.compile(r"^([%!].*)$", re.MULTILINE)
_USES_IPYTHON = re.compile(r"^\s*(?:from|import) IPython\b", re.MULTILINE)
_PRINTED = """
try:
    import IPython.display
except ModuleNotFoundError:  # then display() prints the text of its argument
    import sys
    from types import ModuleType

    def _display(*shown, raw=False, **_):
        for one in shown:
            print(one["text/plain"] if raw else one)

    sys.modules["IPython"] = ModuleType("IPython")
    sys.modules["IPython.display"] = sys.modules["IPython"].display = ModuleType("IPython.display")
    sys.modules["IPython.display"].display = _display
"""
"""What a program needs before cells that import IPython, which a machine without Jupyter lacks."""


@dataclass(frozen=True, slots=True)
class PostProgram:
    """The programs of a post."""

    title: str
    page: str
    """The address of the post's page."""
    cells: tuple[Cell, ...]
    outputs: Mapping[str, Sequence[Output]]
    """The stored outputs of each cell, by its label."""
    modules: Mapping[str, str]
    """The texts of the local modules that the cells import, by path, each after those that it imports."""
    embed: str
    """The text of `program_parts/embedded.py`."""


def needs_of(cells: Iterable[Cell]) -> str:
    """Return the command that installs what cells need."""
    uses_cuda = any("cuda(" in cell_code(cell) for cell in cells)
    return install_all([Language.TRITON, *([Language.CUDA] if uses_cuda else [])])


def notebook(post: PostProgram) -> str:
    """Return the notebook as JSON of nbformat 4.5."""
    head = f"# {post.title}\n\nThe programs of [{post.page}]({post.page}). They need: `{needs_of(post.cells)}`."
    cells = [_markdown("head", head)]
    if first := _first(post):
        cells.append(_code("prelude", first, (), {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}))
    for cell in post.cells:
        tags = ["raises-exception"] if cell.raises else []
        cells.append(
            _code(cell.label, cell_code(cell), post.outputs.get(cell.label, ()), {"tags": tags} if tags else {})
        )
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": spec, "cells": cells}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def script(post: PostProgram, file: str) -> str:
    """Return the cells as one Python program, each below a line `# %% label`, which editors take for a cell."""
    about = f'"""{_plain(post.title)}\n\n    {needs_of(post.cells)}\n    python {file}\n\nPage: {post.page}\n"""'
    printed = _PRINTED if any(_USES_IPYTHON.search(cell_code(cell)) for cell in post.cells) else ""
    sections = [about, *filter(None, [printed, _first(post)])]
    sections += [f"# %% {cell.label}\n{_as_script(cell)}" for cell in post.cells]
    return "\n\n".join(section.strip("\n") for section in sections) + "\n"


def _first(post: PostProgram) -> str:
    """Return the first cell: the local modules, then the imports and the function `cuda` that the cells use."""
    imports = prelude(cell_code(cell) for cell in post.cells)
    if not post.modules:
        return imports
    embed: Part = part_of(post.embed)
    modules = [f"embed({path!r}, {quoted(text)})" for path, text in post.modules.items()]
    return "\n\n\n".join([import_lines([embed]), embed.body, "\n".join(modules), *filter(None, [imports])])


def _as_script(cell: Cell) -> str:
    """Return the code of a cell for Python: commands of IPython become comments, an expected exception is printed."""
    code = _IPYTHON.sub(r"# \1", cell_code(cell))
    if not cell.raises:
        return code
    return f"try:\n    exec({quoted(code)})\nexcept Exception as error:\n    print(type(error).__name__, error)"


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"""', "'''")


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _lines(text)}


def _code(label: str, code: str, outputs: Iterable[Output], metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in label)[:64],
        "metadata": dict(metadata),
        "outputs": [_output(one) for one in outputs],
        "source": _lines(code),
    }


def _output(output: Output) -> dict[str, Any]:
    """Return a stored output in the form of nbformat."""
    if output.kind == "error":
        name, _, value = output.text.strip().rpartition("\n")[2].partition(": ")
        return {"output_type": "error", "ename": name, "evalue": value, "traceback": output.text.split("\n")}
    if output.kind == "image":
        data = {"image/png": output.text}
        return {"output_type": "display_data", "data": data, "metadata": {}}
    if output.kind == "text":
        return {"output_type": "display_data", "data": {"text/plain": _lines(output.text)}, "metadata": {}}
    return {"output_type": "stream", "name": "stdout", "text": _lines(output.text)}


def _lines(text: str) -> list[str]:
    """Return a text as nbformat stores it: a list of lines with their ends."""
    return text.splitlines(keepends=True)
