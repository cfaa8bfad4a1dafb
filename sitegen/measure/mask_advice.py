"""A load or store outside of a tensor → the mask to write, in the names of the author's own kernel."""

from __future__ import annotations

import ast
import linecache
from traceback import FrameSummary

from sitegen.measure.author_lines import LONGEST_TEXT, contains, expression, functions_in, has_mask, short

_EXAMPLE = "i < N"
"""The mask of an example where the kernel has no names for it."""


def mask_advice(access: str, line: FrameSummary, noun: str) -> str:
    """Return what to do about an access on a line of a kernel; `access` is its text, empty where it is not known."""
    call = expression(access)
    if not isinstance(call, ast.Call):
        return f"give this {noun} a mask, as in `mask={_EXAMPLE}`"
    kernel = _kernel_around(line)
    if has_mask(access):
        smaller = _smaller(_mask_of(call), kernel)
        return f"the mask of `{_shown(access, call)}` lets places outside through: make it smaller, as in `{smaller}`"
    masked = _shown(access, call, _mask_beside(line, kernel) or f"{_index_of(call)} < N")
    return f"`{_shown(access, call)}` has no mask: give it one, as in `{masked}`"


def _shown(access: str, call: ast.Call, mask: str = "") -> str:
    """Return a call in a few words, with `mask` added; a long one is cut between its pointer and its mask."""
    added = f", mask={mask}" if mask else ""
    if len(access) <= LONGEST_TEXT:
        return f"{access[:-1].rstrip(', ')}{added})"
    own = next((f", mask={ast.unparse(word.value)}" for word in call.keywords if word.arg == "mask"), "")
    pointer = short(ast.unparse(call.args[0])) if call.args else "…"
    return f"{ast.unparse(call.func)}({pointer}, …{short(own)}{added})"


def _kernel_around(line: FrameSummary) -> ast.FunctionDef | None:
    text = "".join(linecache.getlines(line.filename))
    return next((one for one in functions_in(text) if contains(one, line.lineno or 0)), None)


def _mask_of(call: ast.Call) -> ast.expr | None:
    """Return the mask of a call of `tl.load` or `tl.store`."""
    before = 2 if ast.unparse(call.func).endswith("store") else 1
    by_name = (word.value for word in call.keywords if word.arg == "mask")
    return next(by_name, call.args[before] if len(call.args) > before else None)


def _mask_beside(line: FrameSummary, kernel: ast.FunctionDef | None) -> str:
    """Return the mask of the nearest other load or store of the kernel; empty where none has a mask."""
    calls = [one for one in (ast.walk(kernel) if kernel else ()) if isinstance(one, ast.Call)]
    accesses = [one for one in calls if ast.unparse(one.func).rpartition(".")[2] in ("load", "store")]
    masks = [(abs(one.lineno - (line.lineno or 0)), mask) for one in accesses if (mask := _mask_of(one))]
    return short(ast.unparse(min(masks, key=lambda found: found[0])[1])) if masks else ""


def _index_of(call: ast.Call) -> str:
    """Return the name of the offsets that a call adds to its pointer."""
    pointer = call.args[0] if call.args else None
    offsets = pointer.right if isinstance(pointer, ast.BinOp) else None
    return offsets.id if isinstance(offsets, ast.Name) else "i"


def _smaller(mask: ast.expr | None, kernel: ast.FunctionDef | None) -> str:
    """Return a mask that lets less through: `at < N` for `at <= N`, also where a variable holds the mask."""
    if isinstance(mask, ast.Name):
        name = mask.id
        assigned = (one for one in (ast.walk(kernel) if kernel else ()) if isinstance(one, ast.Assign))
        values = [
            one.value for one in assigned if any(isinstance(to, ast.Name) and to.id == name for to in one.targets)
        ]
        return _less(values[-1], f"{name} = ") if values else f"mask={_EXAMPLE}"
    return _less(mask, "mask=")


def _less(mask: ast.expr | None, before: str) -> str:
    if not isinstance(mask, ast.Compare) or len(mask.ops) > 1:
        return f"mask={_EXAMPLE}"
    left, right = mask.left, mask.comparators[0]
    if isinstance(mask.ops[0], ast.Gt | ast.GtE):
        left, right = right, left
    if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
        return f"mask={_EXAMPLE}"
    end = right.left if isinstance(right, ast.BinOp) and isinstance(right.left, ast.Name) else right
    return short(f"{before}{ast.unparse(left)} < {ast.unparse(end)}")
