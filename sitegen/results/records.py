"""All records of a site as one value, the history of runs, and the identity of an evaluation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sitegen.model.kernel import Kernel, Scalar
from sitegen.model.record import Ceiling, CellRecord, Environment, Evaluation, MeasuredGpu, Ratio, Record, Role

EvaluationId = tuple[Role, str, str, str, tuple[tuple[str, Scalar], ...]]
"""Role, name, workload, dtype and params, which identify an evaluation in a record."""


@dataclass(frozen=True, slots=True)
class PastTime:
    """Times of one evaluation of a past run."""

    median_us: float
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline and probe."""
    interval_us: tuple[float, float] | None = None
    """95 % interval of the median."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """95 % interval of each ratio."""
    by_process_us: tuple[float, ...] = ()
    """Median of each generation of processes; empty for a run of only one."""
    by_process: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Ratio in each generation of processes, by baseline."""
    cycle_ratios: tuple[Ratio, ...] = ()
    """Ratios in SM cycles, only for matrix kernels."""
    cycles: float | None = None
    """The median in SM cycles, only for matrix kernels."""
    gpu_hash: str = ""
    """`Evaluation.gpu_hash`."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run, stored as a line of `<gpu>.history.jsonl`."""

    run: str
    """`Run.id`."""
    commit: str
    driver: str
    cuda: str
    torch: str
    triton: str
    evaluations: Mapping[str, PastTime]
    """Times of each evaluation, by its title: `fused@8192x8192:float32`."""
    environment: Environment | None = None
    ceilings: tuple[Ceiling, ...] = ()
    other_gpus: tuple[MeasuredGpu, ...] = ()
    """`Run.other_gpus`."""

    @property
    def date(self) -> str:
        """Day of the run: `2026-11-21`."""
        return self.run[:10]


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a site."""

    kernels: Mapping[tuple[str, str], Record] = field(default_factory=dict)
    """Records by (kernel, GPU's id)."""
    cells: Mapping[tuple[str, str, str], CellRecord] = field(default_factory=dict)
    """Records of cells by (post's slug, cell's label, GPU's id)."""
    histories: Mapping[tuple[str, str], tuple[PastRun, ...]] = field(default_factory=dict)
    """Runs of a kernel on a GPU, oldest first, by (kernel, GPU's id)."""
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Logs of failures, by (kernel, SHA-256)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of the files with mistakes, by path, for their diagnostics."""
    same_code: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Today's part of a key, by path and stored part, for sources of which only comments have changed since."""

    def gpus(self) -> tuple[str, ...]:
        """Return the ids of all GPUs with a record."""
        return tuple(sorted({gpu for _, gpu in self.kernels} | {gpu for *_, gpu in self.cells}))

    def of_kernel(self, kernel: str) -> dict[str, Record]:
        """Return the records of one kernel, by GPU."""
        return {gpu: record for (name, gpu), record in self.kernels.items() if name == kernel}

    def environments(self, gpu: str) -> Iterator[Environment]:
        """Yield the environment of every run on a GPU."""
        for (_, where), record in self.kernels.items():
            if where == gpu:
                yield from (run.environment for run in record.runs)
        yield from (cell.run.environment for (*_, where), cell in self.cells.items() if where == gpu)


def evaluation_id(evaluation: Evaluation) -> EvaluationId:
    """Return the identity of an evaluation in its record."""
    e = evaluation
    return (e.role, e.name, e.workload, e.dtype, tuple(sorted(e.params.items())))


def runs_of_tools(record: Record) -> set[str]:
    """Return the ids of the runs whose tools counted or watched an evaluation that another run timed."""
    counted = {one.counters.run for one in record.evaluations if one.counters}
    return (counted | {one.sanitizer_run for one in record.evaluations}) - {""}


def timed_unchecked(evaluation: Evaluation) -> bool:
    """Tell whether an implementation has a time without the result of its correctness check, which is never stored."""
    ours = evaluation.role is Role.IMPLEMENTATION
    return ours and evaluation.performance is not None and evaluation.correctness is None


def param_combinations(kernel: Kernel) -> tuple[dict[str, Scalar], ...]:
    """Return every combination of the params' values; one empty combination when there are none."""
    return tuple(dict(zip(kernel.params, values, strict=True)) for values in itertools.product(*kernel.params.values()))


def cell_name(workload: str, dtype: str, params: Mapping[str, Scalar], kernel: Kernel) -> str:
    """Return `8192x8192:float32`, with the params that have several values: `8192x8192:float32[causal=True]`."""
    varied = [f"{name}={value}" for name, value in params.items() if len(kernel.params.get(name, ())) > 1]
    return f"{workload}:{dtype}" + (f"[{','.join(varied)}]" if varied else "")
