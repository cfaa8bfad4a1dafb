"""A source text → the local files that it reaches: Python's `kernels.*` and relative imports, CUDA's quoted #includes.

Only what stands in the given files counts as local; torch, triton and system headers are the environment's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

Files = Mapping[str, str]
"""Text by path from the site's root."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def reached_from(paths: Iterable[str], files: Files) -> tuple[str, ...]:
    """The given paths that exist, and transitively whatever they import or include; sorted."""
    seen: set[str] = set()
    waiting = [path for path in paths if path in files]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += direct(path, files[path], files)
    return tuple(sorted(seen))


def reached_by_text(text: str, path: str, files: Files) -> tuple[str, ...]:
    """As `reached_from`, for a text that is no file (a cell); `path` says where it would stand."""
    return reached_from(direct(path, text, files), files)


def direct(path: str, text: str, files: Files) -> list[str]:
    """The local files that one text names itself."""
    return [candidate for candidate in _named(path, text) if candidate in files]


@lru_cache(maxsize=4096)
def _named(path: str, text: str) -> tuple[str, ...]:
    """Remembered, since every workload and dtype of an implementation asks the same of the same text."""
    return tuple(_imported(path, text) if path.endswith(".py") else _included(path, text))


def _included(path: str, text: str) -> Iterator[str]:
    for name in _INCLUDE.findall(text):
        yield _normal(PurePosixPath(path).parent / name)
        yield _normal(PurePosixPath(name))


def _imported(path: str, text: str) -> Iterator[str]:
    for module in _modules(path, text):
        yield from _files_of(module)


def _modules(path: str, text: str) -> Iterator[str]:
    """Dotted names; of `from a import b` both a and a.b, since b may be a module."""
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _base(path: str, node: ast.ImportFrom) -> str:
    folder = PurePosixPath(path).parent.parts
    package = folder[: len(folder) - node.level + 1] if node.level else ()
    return ".".join((*package, *filter(None, [node.module])))


def _files_of(module: str) -> Iterator[str]:
    """The module's own file or package, and the packages above it, which an import runs too."""
    parts = module.split(".")
    yield "/".join(parts) + ".py"
    for end in range(1, len(parts) + 1):
        yield "/".join((*parts[:end], "__init__.py"))


def _parsed(text: str) -> ast.Module:
    """An empty module where the text is no Python: its mistake shows when it runs.  Magics of IPython are no Python."""
    plain = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines())
    try:
        return ast.parse(plain)
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
