"""All records of a site, as one value, and how an evaluation is told from others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sitegen.model.kernel import Kernel, Scalar
from sitegen.model.record import Ceiling, CellRecord, Environment, Evaluation, Ratio, Record, Role

EvaluationId = tuple[Role, str, str, str, tuple[tuple[str, Scalar], ...]]
"""Role, name, workload, dtype, params: what there is one of in a record."""


@dataclass(frozen=True, slots=True)
class PastTime:
    """One evaluation of a past run."""

    median_us: float
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline and probe."""
    interval_us: tuple[float, float] | None = None
    """95 % interval of the median."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """95 % interval of each ratio."""
    by_process_us: tuple[float, ...] = ()
    """As each generation of processes alone saw it; of a run that had only one, empty."""
    by_process: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The same of each ratio to a baseline."""
    cycle_ratios: tuple[Ratio, ...] = ()
    """Of matrix kernels."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A line of `<gpu>.history.jsonl`."""

    run: str
    """`Run.id`."""
    commit: str
    driver: str
    cuda: str
    torch: str
    triton: str
    evaluations: Mapping[str, PastTime]
    """By `fused@8192x8192:float32`."""
    environment: Environment | None = None
    ceilings: tuple[Ceiling, ...] = ()

    @property
    def date(self) -> str:
        """`2026-11-21`."""
        return self.run[:10]


@dataclass(frozen=True, slots=True)
class Records:
    kernels: Mapping[tuple[str, str], Record] = field(default_factory=dict)
    """By (kernel, GPU's id)."""
    cells: Mapping[tuple[str, str, str], CellRecord] = field(default_factory=dict)
    """By (post's slug, cell's label, GPU's id)."""
    histories: Mapping[tuple[str, str], tuple[PastRun, ...]] = field(default_factory=dict)
    """Every run of a kernel on a GPU, oldest first, by (kernel, GPU's id)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The text of those that could not be read, by path: the frame of their diagnostics."""

    def gpus(self) -> tuple[str, ...]:
        """Every GPU of which something is recorded."""
        return tuple(sorted({gpu for _, gpu in self.kernels} | {gpu for *_, gpu in self.cells}))

    def of_kernel(self, kernel: str) -> dict[str, Record]:
        """The records of one kernel, by GPU."""
        return {gpu: record for (name, gpu), record in self.kernels.items() if name == kernel}

    def environments(self, gpu: str) -> Iterator[Environment]:
        """Of every run on that GPU."""
        for (_, where), record in self.kernels.items():
            if where == gpu:
                yield from (run.environment for run in record.runs)
        yield from (cell.run.environment for (*_, where), cell in self.cells.items() if where == gpu)


def evaluation_id(evaluation: Evaluation) -> EvaluationId:
    e = evaluation
    return (e.role, e.name, e.workload, e.dtype, tuple(sorted(e.params.items())))


def timed_unchecked(evaluation: Evaluation) -> bool:
    """No record without a check: an implementation's time counts only beside its correctness."""
    ours = evaluation.role is Role.IMPLEMENTATION
    return ours and evaluation.performance is not None and evaluation.correctness is None


def swept(kernel: Kernel) -> tuple[dict[str, Scalar], ...]:
    """Every combination of the params' values; one empty combination when there are none."""
    return tuple(dict(zip(kernel.params, values, strict=True)) for values in itertools.product(*kernel.params.values()))


def cell_name(workload: str, dtype: str, params: Mapping[str, Scalar], kernel: Kernel) -> str:
    """`8192x8192:float32`, with the params that are swept: `8192x8192:float32[causal=True]`."""
    varied = [f"{name}={value}" for name, value in params.items() if len(kernel.params.get(name, ())) > 1]
    return f"{workload}:{dtype}" + (f"[{','.join(varied)}]" if varied else "")
