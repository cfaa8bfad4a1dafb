"""The figures of records that a text shows, and its claims about them, as the author wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sitegen.model.figure_table import FIGURES, FIGURES_WITH_NAME, MACHINE, Unit, ceiling_unit

_OF_EVALUATIONS = {**FIGURES, **FIGURES_WITH_NAME}


class Source(StrEnum):
    """The kind of thing that a figure belongs to."""

    EVALUATION = "evaluation"
    CEILING = "ceiling"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class CellName:
    """A workload, a dtype and params, as in `8192x8192:float32[causal=True]`.

    An empty workload or dtype is the kernel's first, and `all` stands for every one.
    """

    workload: str = ""
    dtype: str = ""
    params: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        params = f"[{','.join(f'{name}={value}' for name, value in self.params)}]" if self.params else ""
        return ":".join(filter(None, (self.workload, self.dtype))) + params


FIRST_CELL = CellName()
ALL = "all"


@dataclass(frozen=True, slots=True)
class FigureReference:
    """One figure of one record: `softmax/fused@8192x8192:float32 bandwidth on nvidia-h200`."""

    source: Source
    figure: str
    """A key of FIGURES, FIGURES_WITH_NAME, CEILING_NAMES or MACHINE in model/figure_table.py."""
    kernel: str = ""
    name: str = ""
    """An implementation, a baseline, a probe (`copy`, `read`), or `best`."""
    cell: CellName = FIRST_CELL
    argument: str = ""
    """The name behind the figure: `torch` of `x torch`."""
    gpu: str = ""
    """The GPU's id or an alias; empty: the first GPU of the site that has the figure."""

    @property
    def unit(self) -> Unit:
        """The unit of the figure."""
        if self.source is Source.CEILING:
            return ceiling_unit(self.figure)
        return MACHINE[self.figure] if self.source is Source.MACHINE else _OF_EVALUATIONS[self.figure]


@dataclass(frozen=True, slots=True)
class ValueExpression:
    """A figure, or simple arithmetic over figures: `softmax/naive time / softmax/fused time`."""

    text: str
    formula: str
    """The arithmetic over `v0`, `v1`, …, which are the references in order."""
    references: tuple[FigureReference, ...]
    unit: Unit
    is_predicted: bool = False
    """True for the figure that was predicted before the run, instead of the measured one."""


class Relation(StrEnum):
    """The form of a claim."""

    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    BETWEEN = "between"
    FASTEST = "fastest"
    """Faster than every other implementation and every baseline."""
    FASTEST_IMPLEMENTATION = "fastest implementation"
    """Faster than every other implementation."""
    MEMORY_BOUND = "memory-bound"
    COMPUTE_BOUND = "compute-bound"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence's claim: `softmax/fused >= 1.5x torch @ 8192x8192:float32 on nvidia-h200`."""

    text: str
    kernel: str
    name: str
    """An implementation, a baseline, or `best`."""
    relation: Relation
    figure: str = ""
    """A key of FIGURES or FIGURES_WITH_NAME; empty where the relation needs none."""
    argument: str = ""
    bounds: tuple[float, ...] = ()
    """One bound in the unit of the figure, or two for `between`."""
    cells: tuple[CellName, ...] = (FIRST_CELL,)
    value: ValueExpression | None = None
    """The arithmetic that is compared, in the place of a figure of `name` at `cells`."""
    gpus: tuple[str, ...] = ()
    """Ids or aliases of GPUs; empty: the first GPU of the site that has a record; `all`: each GPU with a record."""

    @property
    def unit(self) -> Unit | None:
        """The unit of the bounds; None without a figure."""
        if self.value is not None:
            return self.value.unit
        return _OF_EVALUATIONS.get(self.figure)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels whose records decide it."""
        return tuple(one.kernel for one in self.value.references) if self.value else (self.kernel,)
