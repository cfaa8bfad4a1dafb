"""Read the figures of a text from the records of a site: value, 95 % interval, and the evaluations that they come from.

A figure that cannot be read is a `Quantity` without a value, which says why.  No record makes a page fail.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sitegen.model.figure_table import CEILING_NAMES, Unit
from sitegen.model.formula import FormulaError, evaluate
from sitegen.model.gpu import is_yours
from sitegen.model.kernel import Kernel
from sitegen.model.record import Compilation, Counters, Environment, Evaluation, Performance, Record, Role, Run
from sitegen.model.value import ALL, CellName, FigureReference, ValueExpression
from sitegen.model.value import Source as SourceKind
from sitegen.results.figures import cost_of_evaluation, figures, run_of
from sitegen.results.freshness import Freshness, FreshnessState
from sitegen.results.records import Records, cell_name, param_combinations

FRESH = Freshness(FreshnessState.FRESH)
PROBES = ("copy", "read")
"""The probes, which every measured kernel of the site has."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The kernels of a site and their records."""

    kernels: Mapping[str, Kernel]
    records: Records
    freshness_of: Callable[[Kernel, Record, Evaluation], Freshness]
    gpus: tuple[str, ...] = ()
    """Ids of the site's own GPUs, in its order."""
    aliases: Mapping[str, str] = field(default_factory=dict)

    def gpu_ids(self, names: Iterable[str], kernel: str = "") -> tuple[str, ...]:
        """Return the ids of GPUs by their names; without names those with a published record, the site's first."""
        if chosen := [self.aliases.get(name, name) for name in names]:
            return tuple(chosen)
        known = {gpu for name, gpu in self.records.kernels if (not kernel or name == kernel) and not is_yours(gpu)}
        return tuple(sorted(known, key=lambda gpu: (self._place(gpu), gpu)))

    def _place(self, gpu: str) -> int:
        return self.gpus.index(gpu) if gpu in self.gpus else len(self.gpus)

    def freshness(self, kernel: Kernel, record: Record, evaluation: Evaluation) -> Freshness:
        """Return the freshness of an evaluation.

        A baseline or a probe has no code of the site.  It is stale when every implementation beside it is.
        """
        if evaluation.role is Role.IMPLEMENTATION:
            return self.freshness_of(kernel, record, evaluation)
        beside = [one for one in record.evaluations if _is_beside(one, evaluation)]
        states = [self.freshness_of(kernel, record, one) for one in beside]
        if states and all(state.state is FreshnessState.STALE for state in states):
            return states[0]
        return self.freshness_of(kernel, record, evaluation)


class Missing(StrEnum):
    """Why a figure has no value, in the words that a reader sees."""

    NOT_MEASURED = "not measured yet"
    NOT_PREDICTED = "not predicted"
    FAILED = "failed its check"
    NOT_COMPUTABLE = "cannot be computed"
    NO_CEILINGS = "no ceilings were measured"
    NOTHING_BESIDE = "nothing to compare with"


@dataclass(frozen=True, slots=True)
class Origin:
    """The measurement that a figure comes from."""

    gpu: str
    """The GPU's id."""
    run_id: str
    run: Run = field(compare=False, repr=False)
    kernel: str = ""
    name: str = ""
    cell: str = ""
    """`8192x8192:float32`."""
    freshness: Freshness = FRESH


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure with its 95 % interval; exact figures have an interval of no width."""

    unit: Unit
    value: float | None = None
    low: float = math.nan
    high: float = math.nan
    text: str = ""
    """The words of a figure with the unit TEXT."""
    origins: tuple[Origin, ...] = ()
    missing: Missing | None = None
    """Why there is no value; None when there is one."""

    @property
    def is_known(self) -> bool:
        return self.missing is None

    @property
    def stale(self) -> str:
        """The reasons for which it is stale; empty for a figure of the present code."""
        stale = [o.freshness for o in self.origins if o.freshness.state is FreshnessState.STALE]
        reasons = dict.fromkeys(reason for one in stale for reason in one.reasons)
        return ", ".join(reasons) or ("its code changed" if stale else "")


Interval = tuple[float, float, float]
"""Value, low end and high end."""


def quantity_of(value: ValueExpression, measured: Measured) -> Quantity:
    """Return the figure of an expression."""
    read = prediction if value.is_predicted else figure
    parts = [read(reference, measured) for reference in value.references]
    absent = next((part for part in parts if not part.is_known), None)
    origins = tuple(dict.fromkeys(origin for part in parts for origin in part.origins))
    if absent is not None:
        return Quantity(value.unit, origins=origins, missing=absent.missing)
    if len(parts) == 1 and value.formula == "v0":
        return parts[0]
    return _computed(value, parts, origins)


def figure(reference: FigureReference, measured: Measured) -> Quantity:
    """Return one figure, from the first of the GPUs that has it."""
    gpus = measured.gpu_ids([reference.gpu] if reference.gpu else [], reference.kernel)
    found = (figure_on(reference, measured, gpu) for gpu in gpus)
    first = next(found, None)
    if first is None:
        return Quantity(reference.unit, missing=Missing.NOT_MEASURED)
    return first if first.is_known else next((one for one in found if one.is_known), first)


def figure_on(reference: FigureReference, measured: Measured, gpu: str) -> Quantity:
    """Return one figure as it was measured on a GPU."""
    if reference.source is SourceKind.EVALUATION:
        return _of_evaluation(reference, measured, gpu)
    run = _newest_run(measured, gpu)
    if run is None:
        return Quantity(reference.unit, missing=Missing.NOT_MEASURED)
    origins = (Origin(gpu, run.id, run),)
    if reference.source is SourceKind.MACHINE:
        return _of_machine(reference, run.environment, origins)
    ceiling = next((c for c in run.ceilings if c.name == CEILING_NAMES[reference.figure]), None)
    if ceiling is None:
        return Quantity(reference.unit, origins=origins, missing=Missing.NOT_MEASURED)
    return _exact(reference.unit, ceiling.rate, origins)


def prediction(reference: FigureReference, measured: Measured) -> Quantity:
    """Return the share of the ceiling that was predicted: as a record has it, else as the kernel has it now."""
    kernel = measured.kernels.get(reference.kernel)
    made = next((one for one in kernel.implementations if one.name == reference.name), None) if kernel else None
    if kernel is None or made is None:
        return Quantity(Unit.SHARE, missing=Missing.NOT_PREDICTED)
    for gpu in measured.gpu_ids([reference.gpu] if reference.gpu else [], reference.kernel):
        record = measured.records.kernels.get((kernel.name, gpu))
        for evaluation in cell_evaluations(kernel, record, reference.cell) if record else ():
            if evaluation.name == made.name and evaluation.predicted_of_ceiling is not None and record:
                origins = _origins(measured, kernel, record, [evaluation])
                fresh = tuple(replace(origin, freshness=FRESH) for origin in origins)  # a prediction does not age
                return _exact(Unit.SHARE, evaluation.predicted_of_ceiling, fresh)
    if made.predicted_of_ceiling is None:
        return Quantity(Unit.SHARE, missing=Missing.NOT_PREDICTED)
    return _exact(Unit.SHARE, made.predicted_of_ceiling, ())


def cells_of(kernel: Kernel, cell: CellName) -> tuple[CellName, ...]:
    """Return the cells of a kernel that a cell stands for: one, or several where it says `all`."""
    workloads = _chosen(cell.workload, [workload.name for workload in kernel.workloads])
    dtypes = _chosen(cell.dtype, kernel.dtypes)
    return tuple(CellName(w, d, cell.params) for w, d in itertools.product(workloads, dtypes))


def cell_evaluations(kernel: Kernel, record: Record, cell: CellName) -> tuple[Evaluation, ...]:
    """Return the evaluations of a cell; params that it does not give have their first value."""
    [wanted] = cells_of(kernel, cell)[:1] or [cell]
    params = dict(wanted.params)
    first = next(iter(param_combinations(kernel)), {})
    found = (one for one in record.evaluations if (one.workload, one.dtype) == (wanted.workload, wanted.dtype))
    return tuple(
        one
        for one in found
        if all(str(one.params.get(name, value)) == params.get(name, str(value)) for name, value in first.items())
    )


def named_evaluation(evaluations: Sequence[Evaluation], name: str) -> Evaluation | None:
    """Return the evaluation of a name; `best` is the fastest implementation."""
    if name != "best":
        named = [one for one in evaluations if one.name == name]
        return min(named, key=lambda one: one.role is Role.PROBE, default=None)
    timed = [one for one in evaluations if one.role is Role.IMPLEMENTATION and one.performance]
    return min(timed, key=lambda one: one.performance.median_us if one.performance else math.inf, default=None)


def _chosen(name: str, known: Sequence[str]) -> Sequence[str]:
    if name == ALL and ALL not in known:
        return known
    return [name] if name else known[:1]


def _of_evaluation(reference: FigureReference, measured: Measured, gpu: str) -> Quantity:
    unit = reference.unit
    kernel, record = measured.kernels.get(reference.kernel), measured.records.kernels.get((reference.kernel, gpu))
    if kernel is None or record is None:
        return Quantity(unit, missing=Missing.NOT_MEASURED)
    beside = cell_evaluations(kernel, record, reference.cell)
    evaluation = named_evaluation(beside, reference.name)
    if evaluation is None:
        return Quantity(unit, missing=Missing.NOT_MEASURED)
    against = named_evaluation(beside, reference.argument) if reference.figure == "x" else None
    used = [evaluation, *([against] if against and against.role is Role.IMPLEMENTATION else [])]
    origins = _origins(measured, kernel, record, used)
    if reference.figure == "re-read" or reference.figure in _COUNTED:
        origins = _of_counting_run(origins, record, evaluation)
    if evaluation.status.failed:
        return Quantity(unit, origins=origins, missing=Missing.FAILED)
    found = _interval(kernel, record, evaluation, reference, against)
    if found is None:
        return Quantity(unit, origins=origins, missing=Missing.NOT_MEASURED)
    return Quantity(unit, *found, origins=origins)


def _origins(
    measured: Measured, kernel: Kernel, record: Record, evaluations: Iterable[Evaluation]
) -> tuple[Origin, ...]:
    return tuple(
        Origin(
            record.gpu,
            run.id,
            run,
            kernel.name,
            one.name,
            cell_name(one.workload, one.dtype, one.params, kernel),
            measured.freshness(kernel, record, one),
        )
        for one in evaluations
        if (run := run_of(record, one))
    )


def _of_counting_run(origins: tuple[Origin, ...], record: Record, evaluation: Evaluation) -> tuple[Origin, ...]:
    """Return the origins with the run that counted, where it is not the one that timed."""
    counted = evaluation.counters.run if evaluation.counters else ""
    run = next((run for run in record.runs if run.id == counted), None)
    return tuple(replace(one, run_id=run.id, run=run) for one in origins) if run else origins


def _interval(
    kernel: Kernel, record: Record, evaluation: Evaluation, reference: FigureReference, against: Evaluation | None
) -> Interval | None:
    """Return a figure of an evaluation; None when the record does not have it."""
    name, timed = reference.figure, evaluation.performance
    if name == "x":
        return _ratio(evaluation, reference.argument, against)
    if name == "instructions":
        return _of_count(_instructions(evaluation.compilation, reference.argument))
    if name in _COMPILED:
        return _of_count(_COMPILED[name](evaluation.compilation)) if evaluation.compilation else None
    if name in _COUNTED:
        counters = evaluation.counters
        return _of_count(_COUNTED[name](counters)) if counters and counters.valid else None
    if name in _TIMED:
        return _TIMED[name](timed) if timed else None
    return _of_formulas(kernel, record, evaluation, name)


def _of_formulas(kernel: Kernel, record: Record, evaluation: Evaluation, name: str) -> Interval | None:
    """Return a figure that needs the least cost of the workload, or the record's launch."""
    cost, timed, counters = cost_of_evaluation(kernel, evaluation), evaluation.performance, evaluation.counters
    launch = evaluation.launch
    if name == "launches":
        return _of_count(launch.launches) if launch else None
    if name == "occupancy":
        return _of_count(launch.occupancy) if launch and launch.occupancy is not None else None
    if name == "error":
        return _of_count(evaluation.correctness.relative_error) if evaluation.correctness else None
    if cost is None:
        return None
    if name == "least-bytes":
        return _of_count(cost.bytes)
    if name == "re-read":
        return _of_count(counters.dram_bytes / cost.bytes) if counters and counters.valid and cost.bytes else None
    if timed is None:
        return None
    if name in ("bandwidth", "operations"):
        moved = cost.read_bytes if (evaluation.role, evaluation.name) == (Role.PROBE, "read") else cost.bytes
        return _per_second(moved if name == "bandwidth" else cost.flops, timed)
    return _share(kernel, record, evaluation, name, timed)


def _share(kernel: Kernel, record: Record, evaluation: Evaluation, name: str, timed: Performance) -> Interval | None:
    if (evaluation.role, evaluation.name) == (Role.PROBE, "read"):
        return None  # the probe makes only the reads of the workload, so that a share of its time says nothing
    if name in ("of-copy", "of-read"):
        return _recorded_ratio(timed, name.removeprefix("of-"))
    made = figures(kernel, record, evaluation)
    share = (made.in_cycles if name == "of-ceiling" else made.of_sustained) if made else None
    if share:
        return share.value, share.low, share.high
    if made is None or made.of_ceiling is None or name == "of-sustained":
        return None
    return (made.of_ceiling, *sorted(made.of_ceiling * timed.median_us / end for end in (timed.high_us, timed.low_us)))  # type: ignore[return-value]


def _ratio(evaluation: Evaluation, name: str, against: Evaluation | None) -> Interval | None:
    """Return t_other / t; against an implementation, of which no ratio is stored, from the intervals of both times."""
    timed, other = evaluation.performance, against.performance if against else None
    if timed is None:
        return None
    if recorded := _recorded_ratio(timed, name):
        return recorded
    if other is None:
        return None
    return other.median_us / timed.median_us, other.low_us / timed.high_us, other.high_us / timed.low_us


def _recorded_ratio(timed: Performance, name: str) -> Interval | None:
    return next(((r.value, r.low, r.high) for r in timed.ratios if r.baseline == name), None)


def _per_second(amount: float, timed: Performance) -> Interval:
    return amount / timed.median_us * 1e6, amount / timed.high_us * 1e6, amount / timed.low_us * 1e6


def _instructions(compiled: Compilation | None, wanted: str) -> int | None:
    """Return the number of instructions of a class; `LDG` counts `LDG.32` and `LDG.128`."""
    if compiled is None or not compiled.instructions:
        return None
    counts = compiled.instructions.items()
    return sum(count for name, count in counts if name == wanted or name.startswith(f"{wanted}."))


def _of_count(count: float | None) -> Interval | None:
    return None if count is None else (float(count), float(count), float(count))


def _exact(unit: Unit, value: float, origins: tuple[Origin, ...]) -> Quantity:
    return Quantity(unit, value, value, value, origins=origins)


def _sustained(timed: Performance) -> Interval | None:
    held = timed.sustained
    return (held.median_us, held.low_us, held.high_us) if held else None


_TIMED: Mapping[str, Callable[[Performance], Interval | None]] = {
    "time": lambda timed: (timed.median_us, timed.low_us, timed.high_us),
    "sustained-time": _sustained,
    "clock": lambda timed: _of_count(timed.sm_clock_mhz),
    "power": lambda timed: _of_count((timed.sustained or timed).power_w),
    "cycles": lambda timed: _of_count(timed.cycles),
}
_COMPILED: Mapping[str, Callable[[Compilation], float]] = {
    "registers": lambda compiled: compiled.registers,
    "spills": lambda compiled: compiled.spill_bytes,
    "shared": lambda compiled: compiled.shared_bytes,
}
_COUNTED: Mapping[str, Callable[[Counters], float]] = {
    "dram-bytes": lambda counters: counters.dram_bytes,
    "dram-read": lambda counters: counters.dram_read_bytes,
    "dram-written": lambda counters: counters.dram_written_bytes,
}
_MACHINE: Mapping[str, Callable[[Environment], str | float]] = {
    "gpu": lambda machine: machine.gpu,
    "arch": lambda machine: machine.arch,
    "driver": lambda machine: machine.driver,
    "cuda": lambda machine: machine.cuda,
    "torch": lambda machine: machine.torch,
    "triton": lambda machine: machine.triton,
    "python": lambda machine: machine.python,
    "sms": lambda machine: machine.sm_count,
    "l2": lambda machine: machine.l2_bytes,
    "memory": lambda machine: machine.memory_bytes,
    "clock": lambda machine: machine.sm_clock_max_mhz,
    "power-cap": lambda machine: machine.power_limit_w,
}


def _of_machine(reference: FigureReference, machine: Environment, origins: tuple[Origin, ...]) -> Quantity:
    fact, unit = _MACHINE[reference.figure](machine), reference.unit
    return Quantity(unit, text=fact, origins=origins) if isinstance(fact, str) else _exact(unit, fact, origins)


def _newest_run(measured: Measured, gpu: str) -> Run | None:
    """Return the newest run on a GPU that measured its ceilings."""
    runs = (run for (_, where), record in measured.records.kernels.items() if where == gpu for run in record.runs)
    return max((run for run in runs if run.ceilings), key=lambda run: run.id, default=None)


def _computed(value: ValueExpression, parts: Sequence[Quantity], origins: tuple[Origin, ...]) -> Quantity:
    """Return the arithmetic over figures; its interval is that of all combinations of the ends."""
    ends = [(part.low, part.high) for part in parts]
    try:
        middle = evaluate(value.formula, _names([part.value or 0.0 for part in parts]))
        corners = [evaluate(value.formula, _names(corner)) for corner in itertools.product(*ends)]
    except FormulaError:
        return Quantity(value.unit, origins=origins, missing=Missing.NOT_COMPUTABLE)
    return Quantity(value.unit, float(middle), float(min(corners)), float(max(corners)), origins=origins)


def _names(values: Iterable[float]) -> dict[str, float]:
    return {f"v{at}": value for at, value in enumerate(values)}


def _is_beside(one: Evaluation, other: Evaluation) -> bool:
    """Tell whether an implementation was measured at the same cell and in the same run as another evaluation."""
    cell = (one.workload, one.dtype, one.params, one.run)
    return one.role is Role.IMPLEMENTATION and cell == (other.workload, other.dtype, other.params, other.run)
