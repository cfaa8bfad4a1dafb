"""The launch block of kernel.yaml at given dims → the compiler's constants, and the shape of the launch, as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.formula import FormulaError, Number, evaluate, evaluate_int
from sitegen.model.kernel import Launch, Scalar


@dataclass(frozen=True, slots=True)
class Geometry:
    """Shape of a launch in x, y and z.  The grid counts blocks, also where blocks form clusters."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    """Dynamic shared memory of a block."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return math.prod(self.block)


def names_of(dims: Mapping[str, int], params: Mapping[str, Scalar], itemsize: int) -> dict[str, Number]:
    """Return the names that a formula may use: dims, numeric params and itemsize."""
    numbers = {name: value for name, value in params.items() if isinstance(value, int | float)}
    return {"itemsize": itemsize, **numbers, **dims}


def constants_of(constants: Mapping[str, str], names: Mapping[str, Number]) -> dict[str, Number]:
    """Return the values of the constants; a constant may use dims, params and the constants before it.

    Raises FormulaError.
    """
    known = dict(names)
    for name, expression in constants.items():
        known[name] = evaluate(expression, known)
    return {name: known[name] for name in constants}


def geometry_of(launch: Launch, names: Mapping[str, Number]) -> Geometry:
    """Return the shape of a launch; `names` hold dims, params, itemsize and the constants.

    Raises FormulaError, also for a grid that is not made of whole clusters.
    """
    grid, block, cluster = (_triple(part, names) for part in (launch.grid, launch.block, launch.cluster))
    if any(blocks % size for blocks, size in zip(grid, cluster, strict=True)):
        raise FormulaError(f"a grid of {grid} blocks is not made of whole clusters of {cluster}", 1)
    return Geometry(grid, block, cluster, evaluate_int(launch.shared, names))


def _triple(expressions: Sequence[str], names: Mapping[str, Number]) -> tuple[int, ...]:
    numbers = tuple(evaluate_int(expression, names) for expression in expressions)
    return numbers + (1,) * (3 - len(numbers))
