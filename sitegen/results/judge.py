"""A record beside its kernel.yaml and its samples → what they do not bear out.

`accept` and `run` judge what a GPU machine sends before they store it.  `check` and `build` judge what is stored, since
a record can be edited by hand.  A record that was forged together with its samples passes: a reviewer must look there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sitegen.model.gpu import gpu_id
from sitegen.model.kernel import Implementation, Kernel, Status
from sitegen.model.record import Ceiling, Correctness, Evaluation, Record, Role, Run
from sitegen.results.datasheets import datasheet
from sitegen.results.formula_check import wrong_formulas
from sitegen.results.measures import beyond
from sitegen.results.samples import BadSamples, Samples, contradictions
from sitegen.results.values import Path

SEEDS, ROW_SHARE = 3, 4.0
"""As in measure/correctness.py: seeds of every check, and how many times the tolerance one row may have."""
ABOVE_DATASHEET = 1.1
"""A ceiling is measured on one board, whose clock may be a little above what the datasheet assumes."""
HIGHEST = {"memory": 40e12, "L2": 200e12, "shared": 1e15, "compute": 25e15}
"""Of a GPU without a datasheet here, per second: five times what the fastest GPU of 2025 can do."""

OfToday = Callable[[Evaluation], bool]
"""Whether an implementation was checked by the rules that kernel.yaml has now (or had in the bundle that was sent)."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing in a record that is not borne out."""

    code: str
    path: Path
    """Where it stands in the record."""
    message: str


def doubts(
    kernel: Kernel, record: Record, of_today: OfToday, samples: Callable[[str], Samples], only: str = ""
) -> Iterator[Doubt]:
    """Yield what is not borne out in a record, or in the run `only` of it.  `samples` raises BadSamples."""
    for index, run in enumerate(record.runs):
        if only in ("", run.id):
            for where, message in _wrong_ceilings(record, run):
                yield Doubt("SG308", ("runs", index, *where), message)
            for number, message in beyond(kernel, record, run):
                yield Doubt("SG403", ("evaluations", number, "performance", "median_us"), message)
            for message in wrong_formulas(kernel, record, run):
                yield Doubt("SG404", ("runs", index), message)
    yield from _unchecked(kernel, record, of_today, only)
    yield from _unsampled(record, samples, only)


def _wrong_ceilings(record: Record, run: Run) -> Iterator[tuple[Path, str]]:
    if gpu_id(run.environment.gpu) != record.gpu:
        yield ("environment", "gpu"), f"the run was made on {run.environment.gpu}, and the record is of {record.gpu}"
    timed = any(e.performance and e.run == run.id for e in record.evaluations)
    if timed and not any(one.name.startswith("memory ") for one in run.ceilings):
        yield ("id",), f"the run {run.id} has times and no memory ceiling to hold them against"
    for index, ceiling in enumerate(run.ceilings):
        highest = _highest(record.gpu, ceiling)
        if ceiling.rate > highest:
            message = f"the ceiling `{ceiling.name}` is {ceiling.rate:.3g} per second; {highest:.3g} is the most"
            yield ("ceilings", index, "rate"), f"{message} that such a GPU can do"


def _highest(gpu: str, ceiling: Ceiling) -> float:
    sheet = datasheet(gpu)
    if sheet and (rate := sheet.rate(ceiling.name)):
        return rate * ABOVE_DATASHEET
    name = ceiling.name.partition(" ")[0]
    return HIGHEST.get(name, HIGHEST["compute"])


def _unchecked(kernel: Kernel, record: Record, of_today: OfToday, only: str) -> Iterator[Doubt]:
    """The gates of correctness again, from the errors that are stored.  The limits are those of kernel.yaml where the
    record was made by them; an older record has only its own.  A baseline was checked by the rules of the
    implementations beside it.
    """
    ours = {one.name: one for one in kernel.implementations}
    cells_of_today = {_cell(e) for e in record.evaluations if e.role is Role.IMPLEMENTATION and of_today(e)}
    for index, one in enumerate(record.evaluations):
        if one.status is not Status.PASSED or one.role is Role.PROBE or only not in ("", one.run):
            continue
        found = one.correctness
        if found is None:
            if one.role is Role.IMPLEMENTATION:
                yield Doubt("SG308", ("evaluations", index), f"{_title(one)} passed without a check")
            continue
        by_today = _cell(one) in cells_of_today
        tolerance = kernel.tolerance.get(one.dtype, found.tolerance) if by_today else found.tolerance
        for message in _failed_gates(found, tolerance):
            yield Doubt("SG308", ("evaluations", index, "correctness"), f"{_title(one)}: {message}")
        if by_today:
            for message in _skipped_checks(kernel, one, found, ours.get(one.name)):
                yield Doubt("SG308", ("evaluations", index, "correctness"), f"{_title(one)}: {message}")


def _failed_gates(found: Correctness, tolerance: float) -> Iterator[str]:
    if not found.relative_error <= tolerance:
        yield f"the relative error {found.relative_error:.3g} is above the tolerance {tolerance:.3g}"
    if not found.row_error <= ROW_SHARE * tolerance:
        yield f"the error of a row {found.row_error:.3g} is above {ROW_SHARE:g} × the tolerance {tolerance:.3g}"
    if found.seeds < SEEDS or found.shapes < 1:
        yield f"it was checked with {found.seeds} seeds at {found.shapes} shapes; {SEEDS} seeds at 1 are the least"


def _skipped_checks(
    kernel: Kernel, one: Evaluation, found: Correctness, implementation: Implementation | None
) -> Iterator[str]:
    """A baseline is checked at the workload alone."""
    wanted = 1 + (len(kernel.checks) if one.role is Role.IMPLEMENTATION else 0)
    if found.shapes != wanted:
        yield f"it was checked at {found.shapes} shapes, and kernel.yaml asks for {wanted}"
    missing = [name for name in ("normal", *kernel.extra_inputs) if name not in found.input_sets]
    if missing:
        yield f"it was not checked with the inputs `{missing[0]}`"
    if found.tolerance != kernel.tolerance.get(one.dtype, found.tolerance):
        yield f"it was checked against {found.tolerance:.3g}; kernel.yaml allows {kernel.tolerance[one.dtype]:.3g}"
    if implementation and implementation.deterministic and one.role is Role.IMPLEMENTATION and not found.deterministic:
        yield "it is declared deterministic, and its runs differ"


def _unsampled(record: Record, samples: Callable[[str], Samples], only: str) -> Iterator[Doubt]:
    """Times without samples, and figures that the samples do not give."""
    of_cells: dict[tuple[object, ...], dict[str, Samples]] = {}
    timed = [(n, e) for n, e in enumerate(record.evaluations) if e.performance and only in ("", e.run)]
    known: dict[int, Samples] = {}
    for index, one in timed:
        try:
            known[index] = samples(one.samples) if one.samples else _none()
        except BadSamples as error:
            yield Doubt("SG308", ("evaluations", index, "performance"), f"{_title(one)}: {error}")
            continue
        if one.role is not Role.IMPLEMENTATION:
            of_cells.setdefault(_cell(one), {})[one.name] = known[index]
    for index, one in timed:
        if index in known:
            found = contradictions(one, known[index], of_cells.get(_cell(one), {}))
            if message := next(found, ""):
                yield Doubt("SG308", ("evaluations", index, "performance"), f"{_title(one)}: {message}")


def _none() -> Samples:
    raise BadSamples("it has a time and no samples that bear it out")


def _cell(one: Evaluation) -> tuple[object, ...]:
    """What was timed in the same rounds."""
    return (one.run, one.workload, one.dtype, tuple(sorted(one.params.items())))


def _title(one: Evaluation) -> str:
    params: Mapping[str, object] = one.params
    return f"{one.name}@{one.workload}:{one.dtype}" + "".join(f"[{n}={v}]" for n, v in sorted(params.items()))
