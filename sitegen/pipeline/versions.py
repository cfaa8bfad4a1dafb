"""Digest the program, its packages and its theme.  A cache that was made with another digest is not used."""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import sitegen
from sitegen.render.shared.default_theme import default_folder

_PARSING_PACKAGES = (
    "linkify_it",
    "markdown_it",
    "mdit_py_plugins",
    "mmdr",
    "PIL",
    "pybtex",
    "pydantic",
    "pygments",
    "pylatexenc",
    "quickjs",
    "yaml",
)
_PROGRAM = (".py", ".js", ".cu", ".css")
_PRINTING_PACKAGES = ("jinja2", "markupsafe")


def versions() -> bytes:
    """Return a digest of sitegen's own files, of Python, and of the packages that parse and print."""
    digest = blake2b(sys.version.encode(), digest_size=16)
    for line in (*_own_files(), *_distributions()):
        digest.update(line.encode() + b"\0")
    return digest.digest()


def _own_files() -> list[str]:
    """Return a line for each file.  Size and time are enough, because an edit of an installed package changes its
    times.
    """
    package = Path(sitegen.__file__).parent
    return sorted([*_file_lines(os.fspath(package), _PROGRAM), *_file_lines(os.fspath(default_folder()))])


def _file_lines(folder: str, endings: tuple[str, ...] = ("",)) -> list[str]:
    lines = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                lines += _file_lines(entry.path, endings) if entry.name != "__pycache__" else []
            elif entry.name.endswith(endings):
                stat = entry.stat()
                lines.append(f"{entry.path} {stat.st_size} {stat.st_mtime_ns}")
    return lines


def _distributions() -> list[str]:
    """Return the names of the distributions that are installed beside the packages that parse and print.  The names
    hold versions: `jinja2-3.1.6.dist-info`.
    """
    specs = [find_spec(package) for package in (*_PARSING_PACKAGES, *_PRINTING_PACKAGES)]
    folders = {Path(spec.origin).parents[1] for spec in specs if spec and spec.origin}
    return sorted(path.name for folder in folders for path in folder.glob("*.dist-info"))
