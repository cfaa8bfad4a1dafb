"""The exception of a cell, as IPython prints it → its message, and the lines of the post that led to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sitegen.execute.outputs import plain_text
from sitegen.model.frames import Frame, with_frames
from sitegen.model.job import NotebookCell

_CELL = re.compile(r"(?m)^\s*Cell In\[(?P<count>\d+)\], line (?P<line>\d+)|^File (?P<path>[^<\s][^\n:]*):(?P<at>\d+)")
_OWN_FILE = re.compile(r" \((?:<cell>|\d+\.py), line \d+\)$")
"""IPython's name of the cell's file, at the end of a syntax error."""
_LONGEST = 400
"""The most characters of a line of the message."""


def explained(raw: Mapping[str, Any], cells: Mapping[int, NotebookCell], folder: Path) -> str:
    """Return the exception in `raw`, an error output of nbformat, with the place of each frame in the author's files.

    `cells` maps IPython's execution count to the cell, and `folder` is where the cells ran.
    """
    message = _OWN_FILE.sub("", plain_text(f"{raw['ename']}: {raw['evalue']}", folder).strip()).rstrip(":")
    lines = [line[:_LONGEST] for line in message.splitlines()]
    return with_frames("\n".join(lines), list(_frames("\n".join(raw["traceback"]), cells, folder)))


def _frames(traceback: str, cells: Mapping[int, NotebookCell], folder: Path) -> Iterator[Frame]:
    for match in _CELL.finditer(plain_text(traceback, folder)):
        if match["path"]:
            yield from _file_frame(match["path"], int(match["at"]), folder)
        elif cell := cells.get(int(match["count"])):
            yield _cell_frame(cell, int(match["line"]))


def _cell_frame(cell: NotebookCell, line: int) -> Frame:
    source = cell.source.splitlines()
    return Frame(cell.path or cell.label, cell.line + line - 1, source[line - 1] if line <= len(source) else "")


def _file_frame(path: str, line: int, folder: Path) -> Iterator[Frame]:
    """Yield the frame of a file of the site; a line of a library is not the author's, and is left out."""
    if not Path(path).is_absolute() and (folder / path).is_file():
        source = (folder / path).read_text(encoding="utf-8", errors="replace").splitlines()
        yield Frame(path, line, source[line - 1] if line <= len(source) else "")
