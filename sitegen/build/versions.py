"""One digest of everything outside of a site that decides what its pages look like: a cache of another is no use."""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import sitegen
from sitegen.render.shared.default_theme import default_folder

_READERS = (
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
_PROGRAM = (".py", ".js", ".cu")
_PRINTERS = ("jinja2", "markupsafe")


def versions() -> bytes:
    """Of sitegen's own files, of Python, and of the packages that read and print."""
    found = blake2b(sys.version.encode(), digest_size=16)
    for line in (*_own_files(), *_distributions()):
        found.update(line.encode() + b"\0")
    return found.digest()


def _own_files() -> list[str]:
    """What the system says of them is enough: nobody writes into an installed package and keeps its times."""
    package = Path(sitegen.__file__).parent
    return sorted([*_stated(os.fspath(package), _PROGRAM), *_stated(os.fspath(default_folder()))])


def _stated(folder: str, endings: tuple[str, ...] = ("",)) -> list[str]:
    lines = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                lines += _stated(entry.path, endings) if entry.name != "__pycache__" else []
            elif entry.name.endswith(endings):
                stat = entry.stat()
                lines.append(f"{entry.path} {stat.st_size} {stat.st_mtime_ns}")
    return lines


def _distributions() -> list[str]:
    """The names of what is installed beside the packages that read and print, which hold versions:
    `jinja2-3.1.6.dist-info`.
    """
    specs = [find_spec(package) for package in (*_READERS, *_PRINTERS)]
    folders = {Path(spec.origin).parents[1] for spec in specs if spec and spec.origin}
    return sorted(path.name for folder in folders for path in folder.glob("*.dist-info"))
