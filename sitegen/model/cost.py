"""A kernel's formulas at one workload → the least that it takes: bytes read, bytes written, operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import Number, evaluate
from sitegen.model.kernel import Kernel, Scalar, Workload

MATRIX_INTENSITY = 64.0
"""FLOP per byte from which a kernel is one of matrix products: the power cap holds its clock, not the memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The least that a workload takes."""

    read_bytes: Number
    written_bytes: Number
    flops: Number

    @property
    def bytes(self) -> Number:
        return self.read_bytes + self.written_bytes

    @property
    def read_share(self) -> float:
        return self.read_bytes / self.bytes if self.bytes else 0.5

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def is_matrix(self) -> bool:
        """Whether arithmetic bounds it on every GPU that we know."""
        return self.intensity >= MATRIX_INTENSITY


def cost_of(kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar]) -> Cost:
    """Raises FormulaError when a formula names what the workload does not have."""
    numbers = {name: value for name, value in params.items() if not isinstance(value, str)}
    names: dict[str, Number] = {**workload.dims, **numbers, "itemsize": DTYPES[dtype].itemsize}
    return Cost(evaluate(kernel.reads, names), evaluate(kernel.writes, names), evaluate(kernel.flops, names))
