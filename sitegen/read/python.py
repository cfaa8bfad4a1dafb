"""Find the first syntax error of Python source, the names that a module defines, and the keys of a dict in it.

The source is parsed and never run.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from sitegen.diagnostics import Diagnostic, Span

NOT_PARSED = (SyntaxError, ValueError, MemoryError, RecursionError)
"""The errors of Python's parser.  For source that is nested too deeply it raises one of the last two."""
_DEEP = "it is nested too deeply"
_COMMAND = re.compile(r"(?m)^([ \t]*)(?:[\w, .]+=[ \t]*)?[%!?].*$|^([ \t]*)[\w.]+\?\??[ \t]*$")
"""Pattern of a line that only IPython can read: `%timeit f()`, `!nvidia-smi`, `files = !ls`, `f?`."""


def syntax_mistake(source: str, path: str, *, notebook: bool = False) -> Diagnostic | None:
    """Return the first syntax error of a file, or of a cell of a notebook, where IPython's commands are allowed."""
    error = _error(source)
    if error is not None and notebook:
        python = _COMMAND.sub(r"\1\2pass", source)
        error = None if source.lstrip().startswith("%%") else _error(python, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if error is None:
        return None
    said = error.msg if isinstance(error, SyntaxError) else str(error) if isinstance(error, ValueError) else _DEEP
    return Diagnostic(
        "SG036", f"this is not Python: {said}", _span(error, path), "correct this line or the one above it"
    )


def defines(name: str, source: str) -> bool:
    """Tell whether a module may define a name: by `def`, `class`, an assignment or an import, also within `if` or
    `try`.  `from x import *` may define every name.
    """
    return not {name, "*"}.isdisjoint(_names_of(ast.parse(source)))


def functions_of(source: str) -> tuple[tuple[str, int], ...]:
    """Return the name and the line of each function of a module that has no decorator."""
    functions = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))
    return tuple((one.name, one.lineno) for one in functions if not one.decorator_list)


def _names_of(module: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines, in no order; the body of a function defines none there."""
    waiting: list[ast.AST] = [module]
    while waiting:
        match node := waiting.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case _:
                waiting += ast.iter_child_nodes(node)


def keys_of(name: str, source: str) -> tuple[str, ...]:
    """Return the keys of the dict that a module assigns to a name; nothing where they are not all written out."""
    for one in ast.parse(source).body:
        if isinstance(one, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in one.targets):
            keys = one.value.keys if isinstance(one.value, ast.Dict) else []
            words = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            return tuple(words) if len(words) == len(keys) else ()
    return ()


def _error(source: str, flags: int = 0) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `"\d"` Python says that it will be an error one day
            compile(source, "source", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
    except NOT_PARSED as error:
        return error
    return None


def _span(error: Exception, path: str) -> Span:
    if not isinstance(error, SyntaxError):
        return Span(path)
    line, col, end = error.lineno or 1, error.offset or 1, error.end_offset or 0
    return Span(path, line, max(col, 1), max(end - col, 1) if error.end_lineno == error.lineno else 1)
