"""Find the local files that a source text reaches by Python imports and by #include "…" of CUDA.

Only the given files count as local; torch, Triton and system headers belong to the environment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from sitegen.read.python import NOT_PARSED

SourceTexts = Mapping[str, str]
"""Text by path from the site's root."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def files_reached(paths: Iterable[str], files: SourceTexts) -> tuple[str, ...]:
    """Return the given paths that exist and all files that they import or include, directly or not; sorted."""
    seen: set[str] = set()
    waiting = [path for path in paths if path in files]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += named_files(path, files[path], files)
    return tuple(sorted(seen))


def files_reached_by_text(text: str, path: str, files: SourceTexts) -> tuple[str, ...]:
    """Return the files that a text reaches which is no file, such as a cell; `path` says where it would stand."""
    return files_reached(named_files(path, text, files), files)


def named_files(path: str, text: str, files: SourceTexts) -> list[str]:
    """Return the local files that one text imports or includes directly."""
    return [candidate for candidate in _candidates(path, text) if candidate in files]


@lru_cache(maxsize=4096)
def _candidates(path: str, text: str) -> tuple[str, ...]:
    """Return the paths that a text may import or include.

    The result is cached because every workload and dtype of an implementation asks for the same text.
    """
    return tuple(_imported(path, text) if path.endswith(".py") else _included(path, text))


def _included(path: str, text: str) -> Iterator[str]:
    for name in _INCLUDE.findall(text):
        yield _normal(PurePosixPath(path).parent / name)
        yield _normal(PurePosixPath(name))


def _imported(path: str, text: str) -> Iterator[str]:
    for module in _modules(path, text):
        yield from _files_of(module)


def _modules(path: str, text: str) -> Iterator[str]:
    """Yield dotted names; `from a import b` gives both a and a.b, since b may be a module."""
    for node in ast.walk(_parse(text)):
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
    """Yield the file or package of a module, and the packages above it, which an import runs too."""
    parts = module.split(".")
    yield "/".join(parts) + ".py"
    for end in range(1, len(parts) + 1):
        yield "/".join((*parts[:end], "__init__.py"))


def _parse(text: str) -> ast.Module:
    """Return the syntax tree of a text without IPython's magics; that of an empty module when it is not Python."""
    plain = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines())
    try:
        return ast.parse(plain)
    except NOT_PARSED:
        return ast.Module(body=[], type_ignores=[])


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
