"""Split Python texts into docstring, imports and body, so that several become one program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_TOP_LEVEL = re.compile(r"^(?:(?:async )?def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """A module of a program: one of `sitegen/measure/program_parts`."""

    about: str
    """The first line of its docstring."""
    imports: tuple[tuple[str, str], ...]
    """Each import: the module and the name that is taken from it, which is empty for `import module`."""
    body: str


@lru_cache
def part_of(text: str) -> Part:
    """Return the parts of a module that begins with a docstring and imports, and renames nothing that it imports."""
    tree = ast.parse(text)
    imports: list[tuple[str, str]] = []
    last = tree.body[0]
    for node in tree.body:
        if isinstance(node, ast.Import):
            imports += [(one.name, "") for one in node.names]
            last = node
        if isinstance(node, ast.ImportFrom):
            imports += [(node.module or "", one.name) for one in node.names]
            last = node
    about = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Part(about, tuple(imports), "\n".join(text.split("\n")[last.end_lineno :]).strip("\n"))


def import_lines(parts: Iterable[Part], *also: tuple[str, str]) -> str:
    """Return the imports of several parts as lines, each module once."""
    wanted = {pair for part in parts for pair in part.imports} | set(also)
    modules = sorted(module for module, name in wanted if not name)
    named = {
        module: sorted(n for m, n in wanted if m == module and n) for module in sorted({m for m, n in wanted if n})
    }
    return "\n".join(
        [
            *(f"import {module}" for module in modules if module not in THIRD_PARTY),
            *(f"from {module} import {', '.join(names)}" for module, names in named.items()),
            "",
            *(f"import {module}" for module in modules if module in THIRD_PARTY),
        ]
    ).strip()


THIRD_PARTY = frozenset({"torch"})


def names_defined(text: str) -> frozenset[str]:
    """Return the names of the functions, classes and constants at the top level of a Python text."""
    return frozenset(first or second for first, second in _TOP_LEVEL.findall(text))


def quoted(text: str) -> str:
    """Return a text as a literal of Python that keeps its lines."""
    for quotes in ('"""', "'''"):
        if quotes not in text and "\r" not in text and not text.endswith(("\\", quotes[0])):
            return f"r{quotes}{text}{quotes}" if not text.startswith(quotes[0]) else f"r{quotes}\n{text}{quotes}[1:]"
    return repr(text)
