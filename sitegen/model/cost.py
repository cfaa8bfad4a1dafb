"""Evaluate a kernel's formulas at one workload: least bytes read, least bytes written, operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.kernel import Kernel, Scalar, Workload

MATRIX_INTENSITY = 64.0
"""FLOP per byte from which a kernel counts as a matrix product: the power cap limits its clock, not the memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Least traffic and operations of a workload."""

    read_bytes: Number
    written_bytes: Number
    flops: Number

    @property
    def bytes(self) -> Number:
        """Least bytes read and written."""
        return self.read_bytes + self.written_bytes

    @property
    def read_share(self) -> float:
        """Reads as a share of all bytes; one half without any traffic."""
        return self.read_bytes / self.bytes if self.bytes else 0.5

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def is_matrix(self) -> bool:
        """Tell whether arithmetic bounds the workload on every GPU that we know."""
        return self.intensity >= MATRIX_INTENSITY


def cost_of(kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar]) -> Cost:
    """Return the cost of a workload.  Raises FormulaError when a formula has a name that the workload does not have."""
    numbers = {name: value for name, value in params.items() if not isinstance(value, str)}
    names: dict[str, Number] = {**workload.dims, **numbers, "itemsize": DTYPES[dtype].itemsize}
    return Cost(evaluate(kernel.reads, names), evaluate(kernel.writes, names), evaluate(kernel.flops, names))
