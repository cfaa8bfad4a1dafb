"""Turn a cell of a post into Python code: CUDA C++ becomes a call of the function `cuda` that `prelude` defines."""

from __future__ import annotations

from typing import Any

from sitegen.model.document import Cell
from sitegen.model.formula import FormulaError, evaluate, evaluate_int
from sitegen.model.kernel import Launch


def cell_code(cell: Cell) -> str:
    """Return a cell as Python: a CUDA cell becomes `entry = cuda(source, launch)`.

    A launch that needs dims is that of an implementation, which is measured elsewhere; its cell becomes
    `entry_source = source`.
    """
    if cell.language != "cuda":
        return cell.source
    if cell.launch is None:
        return f"{cell.label.replace('-', '_')}_source = {_quoted(cell.source)}"
    try:
        return f"{cell.launch.entry} = cuda({_quoted(cell.source)}, {_launch(cell.launch)!r})"
    except FormulaError:
        return f"{cell.launch.entry}_source = {_quoted(cell.source)}"


def first_line(cell: Cell) -> int:
    """Return the line of the post on which `cell_code` begins: the call of `cuda` is one line before its source."""
    return cell.line - 1 if cell.language == "cuda" else cell.line


def _quoted(source: str) -> str:
    fits = '"""' not in source and not source.endswith(("\\", '"'))
    return f'r"""\n{source.strip(chr(10))}\n"""' if fits else repr(source)


def _launch(launch: Launch) -> dict[str, Any]:
    """Return a launch with its numbers evaluated.  Raises FormulaError where they need dims."""
    constants = {name: evaluate(value, {}) for name, value in launch.constants.items()}
    shape = {name: [evaluate_int(n, constants) for n in getattr(launch, name)] for name in ("grid", "block")}
    shared = evaluate_int(launch.shared, constants)
    return {"entry": launch.entry, **shape, "shared": shared, "constants": constants}
