"""A function or a frame of the author → the line of the file that a message should show.

Python and Triton know in which line an exception was raised, which is not always the line to change.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterator
from traceback import FrameSummary
from types import FrameType
from typing import Any

LONGEST_TEXT = 60
"""Most characters of a piece of a line that a sentence quotes."""
_ARANGE = re.compile(r"arange\([^,]+,\s*(?P<end>[A-Za-z_]\w*)\s*\)")


def definition(function: Callable[..., Any]) -> FrameSummary | None:
    """Return the line with the `def` of a function; None without its source."""
    found = _parsed(function)
    return _frame(function, found) if found else None


def assignment(function: Callable[..., Any], name: str) -> FrameSummary | None:
    """Return the line that gives a variable its value, else the line with the `def`."""
    found = _parsed(function)
    stored = (one for one in (ast.walk(found) if found else ()) if isinstance(one, ast.Name) and one.id == name)
    line = next((one for one in stored if isinstance(one.ctx, ast.Store)), found)
    return _frame(function, line) if line else None


def last_return(function: Callable[..., Any]) -> FrameSummary | None:
    """Return the line of the last `return`, else the line with the `def`."""
    found = _parsed(function)
    returns = [one for one in (ast.walk(found) if found else ()) if isinstance(one, ast.Return)]
    line = max(returns, key=lambda one: one.lineno, default=found)
    return _frame(function, line) if line else None


def text_at(frame: FrameType) -> str:
    """Return the expression that a frame evaluates, in one line; empty where it is not known."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, end_line, column, end_column = positions
    if line is None or end_line is None or column is None or end_column is None:
        return ""
    lines = [linecache.getline(frame.f_code.co_filename, one).encode() for one in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end_column]
    text = " ".join(b"".join([lines[0][column:], *lines[1:]]).decode(errors="replace").split())
    return text if expression(text) else ""


def has_mask(text: str) -> bool:
    """Return whether the call of `tl.load` or `tl.store` in a text has a mask."""
    call = expression(text)
    if not isinstance(call, ast.Call):
        return False
    before = 2 if ast.unparse(call.func).endswith("store") else 1
    return len(call.args) > before or any(word.arg == "mask" for word in call.keywords)


def short(text: str) -> str:
    """Return a text that is cut where a sentence would become too long."""
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def in_brackets(text: str) -> str:
    """Return comparisons in a row as a mask of a block: `a < N & b > 0` → `(a < N) & (b > 0)`; empty for other text."""
    found = expression(text)
    if not isinstance(found, ast.Compare) or len(found.ops) < 2:
        return ""
    halves = [_split(one) for one in found.comparators[:-1]]
    lefts = [found.left, *(right for _, _, right in halves)]
    rights = [*(left for left, _, _ in halves), found.comparators[-1]]
    marks = [*(mark for _, mark, _ in halves), ""]
    rows = zip(lefts, found.ops, rights, marks, strict=True)
    words = [f"({ast.unparse(ast.Compare(left, [sign], [right]))}) {mark}" for left, sign, right, mark in rows]
    return " ".join(words).strip()


def _split(operand: ast.expr) -> tuple[ast.expr, str, ast.expr]:
    """Return what belongs to the comparison before, the mark between, and what belongs to the comparison behind."""
    if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.BitAnd | ast.BitOr):
        return operand.left, "&" if isinstance(operand.op, ast.BitAnd) else "|", operand.right
    return operand, "&", operand


def undeclared_length(frame: FrameSummary, text: str) -> tuple[FrameSummary, str] | None:
    """Return the line of the signature and the name of the length of `tl.arange`, if no parameter is a constant there.

    `frame` is the line of the `tl.arange`, and `text` the source of its file.
    """
    named = _ARANGE.search(frame.line or "")
    kernel = next((one for one in functions_in(text) if contains(one, frame.lineno or 0)), None)
    if named is None or kernel is None:
        return None
    parameters = [*kernel.args.args, *kernel.args.kwonlyargs]
    given = next((one for one in parameters if one.arg == named["end"] and one.annotation is None), None)
    if given is None or any("constexpr" in ast.unparse(one.annotation) for one in parameters if one.annotation):
        return None
    lines = text.splitlines()
    return FrameSummary(frame.filename, given.lineno, kernel.name, line=lines[given.lineno - 1]), given.arg


def functions_in(text: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module, also those within others; none of a text that is no Python."""
    try:
        yield from (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef))
    except SyntaxError:
        return


def contains(function: ast.FunctionDef, line: int) -> bool:
    """Return whether a line of the file belongs to the function."""
    return function.lineno <= line <= (function.end_lineno or 0)


def _parsed(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """Return the definition of a function in its file; its lines are those of the file."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    text = "".join(linecache.getlines(code.co_filename))
    found = [one for one in functions_in(text) if one.name == code.co_name and contains(one, code.co_firstlineno)]
    decorated = (one for one in functions_in(text) if one.name == code.co_name)
    return found[0] if found else next((one for one in decorated if one.lineno >= code.co_firstlineno), None)


def _frame(function: Callable[..., Any], node: Any) -> FrameSummary:
    code = function.__code__
    return FrameSummary(code.co_filename, node.lineno, code.co_name)


def expression(text: str) -> ast.expr | None:
    """Return the expression of a text; None where it is none."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
