"""Check the claims of a record: find those that its kernel.yaml, its ceilings or its samples contradict.

`shape.py` checks the fields of a record and `field_rules.py` each value alone, before.  `read/shape.py` checks the YAML
of authors.

`accept` and `run` judge results of a GPU machine before they store them.  `check` and `build` judge stored records,
since a record can be edited by hand.  A record that was forged together with its samples passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.ceiling_table import CEILINGS
from sitegen.model.gpu import gpu_id, model_of
from sitegen.model.kernel import Implementation, Kernel, Status
from sitegen.model.record import Ceiling, Correctness, CycleRate, Evaluation, MeasuredGpu, Record, Rejection, Role, Run
from sitegen.model.sweep_points import evaluation_at, words_of_values
from sitegen.results.datasheets import datasheet
from sitegen.results.dependencies import SourceTexts
from sitegen.results.field_rules import ValuePath
from sitegen.results.figures import impossible_points, impossible_rates
from sitegen.results.formula_check import wrong_formulas
from sitegen.results.run_gpus import run_on
from sitegen.results.same_code import other_sources, place_of_part
from sitegen.results.samples import BadSamples, Samples, contradictions, contradictory_rounds

SEEDS, ROW_SHARE = 3, 4.0
"""Least seeds of a check, and the most error of one row in tolerances; the same as in measure/correctness.py
and measure/judging.py."""
ABOVE_DATASHEET = 1.1
"""Largest measured ceiling over the datasheet's: a board's clock may be a little above what the datasheet assumes."""

CurrentRulesTest = Callable[[Evaluation], bool]
"""Function that tells whether an evaluation was checked by the current rules of kernel.yaml (or of the bundle sent)."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """One claim of a record that is contradicted."""

    code: str
    path: ValuePath
    """Path of the claim in the record."""
    message: str


def doubts(
    kernel: Kernel, record: Record, is_current: CurrentRulesTest, samples: Callable[[str], Samples], only: str = ""
) -> Iterator[Doubt]:
    """Yield the contradicted claims of a record, or only those of the run `only`.

    `samples` returns the samples with a digest; it raises BadSamples.
    """
    for index, run in enumerate(record.runs):
        if only in ("", run.id):
            for where, message in _wrong_ceilings(record, run):
                yield Doubt("SG308", ("runs", index, *where), message)
            for number, message in impossible_rates(kernel, record, run):
                yield Doubt("SG403", ("evaluations", number, "performance", "median_us"), message)
            for place, message in impossible_points(kernel, record, run):
                yield Doubt("SG403", (*place, "performance", "median_us"), message)
            for message in wrong_formulas(kernel, record, run):
                yield Doubt("SG404", ("runs", index), message)
    yield from _wrong_checks(kernel, record, is_current, only)
    yield from _wrong_times(record, samples, only)
    yield from _wrong_points(kernel, record, is_current, only)


def _wrong_ceilings(record: Record, run: Run) -> Iterator[tuple[ValuePath, str]]:
    for number, gpu in enumerate(run.gpus):
        place: ValuePath = ("other_gpus", number - 1) if number else ()
        yield from (((*place, *where), message) for where, message in _wrong_gpu(record, gpu))
    hashes = [gpu.environment.gpu_hash for gpu in run.gpus]
    if again := next((one for index, one in enumerate(hashes) if one in hashes[:index]), None):
        yield ("other_gpus",), f"the GPU {again} is in the run {run.id} twice"
    yield from _times_without_ceilings(record, run)


def _times_without_ceilings(record: Record, run: Run) -> Iterator[tuple[ValuePath, str]]:
    """Yield each GPU that timed evaluations of the run and has no memory ceiling in it."""
    hashes = {e.gpu_hash for e in record.evaluations if e.performance and e.run == run.id}
    hashes |= {s.gpu_hash for s in record.sweeps if s.run == run.id and any(p.performance for p in s.points)}
    for gpu_hash in sorted(hashes):
        on_gpu = run_on(run, gpu_hash)
        if on_gpu is None:
            yield ("id",), f"the run {run.id} has times of the GPU {gpu_hash}, which is not among its GPUs"
        elif not any(one.name.startswith("memory ") for one in on_gpu.ceilings):
            of_gpu = f" of the GPU {gpu_hash}" if gpu_hash else ""
            yield ("id",), f"the run {run.id} has times{of_gpu} and no memory ceiling to hold them against"


def _wrong_gpu(record: Record, gpu: MeasuredGpu) -> Iterator[tuple[ValuePath, str]]:
    """Yield the contradictions in one GPU of a run: another model, and ceilings that are too high."""
    product = gpu.environment.gpu
    if gpu_id(product) != model_of(record.gpu):
        yield ("environment", "gpu"), f"the run was made on {product}, and the record is of {record.gpu}"
    for index, ceiling in enumerate(gpu.ceilings):
        highest = _highest(record.gpu, ceiling)
        if ceiling.rate > highest:
            message = f"the ceiling `{ceiling.name}` is {ceiling.rate:.3g} per second; {highest:.3g} is the most"
            yield ("ceilings", index, "rate"), f"{message} that such a GPU can do"
        for kind, rate in (("burst", ceiling.burst), ("sustained", ceiling.sustained)):
            if rate and _per_second(rate) > highest:
                message = f"the ceiling `{ceiling.name}` does {rate.per_cycle:.3g} operations per SM cycle"
                yield ("ceilings", index, kind), f"{message}, at its clock more than such a GPU can do"


def _per_second(rate: CycleRate) -> float:
    return rate.per_cycle * rate.sm_clock_mhz * 1e6


def _highest(gpu: str, ceiling: Ceiling) -> float:
    sheet = datasheet(gpu)
    if sheet and (rate := sheet.rate(ceiling.name)):
        return rate * ABOVE_DATASHEET
    return CEILINGS[ceiling.name].highest_per_s


def _wrong_checks(kernel: Kernel, record: Record, is_current: CurrentRulesTest, only: str) -> Iterator[Doubt]:
    """Yield a doubt for each stored error with which an evaluation cannot have passed.

    The limits are those of kernel.yaml when the record was made by them; an older record is judged by its own.  A
    baseline was checked by the rules of the implementations beside it.
    """
    ours = {one.name: one for one in kernel.implementations}
    cells_by_current_rules = {_cell(e) for e in record.evaluations if e.role is Role.IMPLEMENTATION and is_current(e)}
    for index, one in enumerate(record.evaluations):
        if one.status is not Status.PASSED or one.role is Role.PROBE or only not in ("", one.run):
            continue
        correctness = one.correctness
        if correctness is None:
            if one.role is Role.IMPLEMENTATION:
                yield Doubt("SG308", ("evaluations", index), f"{_title(one)} passed without a check")
            continue
        by_current_rules = _cell(one) in cells_by_current_rules
        tolerance = (
            kernel.tolerance.get(one.dtype, correctness.tolerance) if by_current_rules else correctness.tolerance
        )
        for message in _failed_gates(correctness, tolerance):
            yield Doubt("SG308", ("evaluations", index, "correctness"), f"{_title(one)}: {message}")
        if by_current_rules:
            for message in _skipped_checks(kernel, one, correctness, ours.get(one.name)):
                yield Doubt("SG308", ("evaluations", index, "correctness"), f"{_title(one)}: {message}")


def _failed_gates(correctness: Correctness, tolerance: float) -> Iterator[str]:
    if not correctness.relative_error <= tolerance:
        yield f"the relative error {correctness.relative_error:.3g} is above the tolerance {tolerance:.3g}"
    if not correctness.row_error <= ROW_SHARE * tolerance:
        yield f"the error of a row {correctness.row_error:.3g} is above {ROW_SHARE:g} × the tolerance {tolerance:.3g}"
    if correctness.seeds < SEEDS or correctness.shapes < 1:
        checks = f"{correctness.seeds} seeds at {correctness.shapes} shapes"
        yield f"it was checked with {checks}; {SEEDS} seeds at 1 are the least"


def _skipped_checks(
    kernel: Kernel, one: Evaluation, correctness: Correctness, implementation: Implementation | None
) -> Iterator[str]:
    """Yield a sentence for each check that kernel.yaml asks for and the record lacks.

    A baseline is checked at the workload only; an implementation that was not timed may lack the workload's shape.
    """
    wanted = 1 + (len(kernel.checks) if one.role is Role.IMPLEMENTATION else 0)
    if correctness.shapes != wanted and (one.performance or correctness.shapes != wanted - 1):
        yield f"it was checked at {correctness.shapes} shapes, and kernel.yaml asks for {wanted}"
    missing = [name for name in ("normal", *kernel.extra_inputs) if name not in correctness.input_sets]
    if missing:
        yield f"it was not checked with the inputs `{missing[0]}`"
    allowed = kernel.tolerance.get(one.dtype, correctness.tolerance)
    if correctness.tolerance != allowed:
        yield f"it was checked against {correctness.tolerance:.3g}; kernel.yaml allows {allowed:.3g}"
    if (
        implementation
        and implementation.deterministic
        and one.role is Role.IMPLEMENTATION
        and not correctness.deterministic
    ):
        yield "it is declared deterministic, and its runs differ"


def _wrong_times(record: Record, samples: Callable[[str], Samples], only: str) -> Iterator[Doubt]:
    """Yield a doubt for each time without samples, and for each figure that contradicts its samples."""
    of_cells: dict[tuple[object, ...], dict[str, Samples]] = {}
    timed = [(n, e) for n, e in enumerate(record.evaluations) if e.performance and only in ("", e.run)]
    known: dict[int, Samples] = {}
    for index, one in timed:
        try:
            known[index] = samples(one.samples) if one.samples else _no_samples()
        except BadSamples as error:
            yield Doubt("SG308", ("evaluations", index, "performance"), f"{_title(one)}: {error}")
            continue
        if one.role is not Role.IMPLEMENTATION:
            of_cells.setdefault(_cell(one), {})[one.name] = known[index]
    for index, one in timed:
        if index in known:
            sentences = contradictions(one, known[index], of_cells.get(_cell(one), {}))
            if message := next(sentences, ""):
                yield Doubt("SG308", ("evaluations", index, "performance"), f"{_title(one)}: {message}")


def _wrong_points(kernel: Kernel, record: Record, is_current: CurrentRulesTest, only: str) -> Iterator[Doubt]:
    """Yield a doubt for each point of a sweep that cannot have passed, or whose figures are not those of its rounds."""
    ours = {one.name: one for one in kernel.implementations}
    for index, sweep in enumerate(record.sweeps):
        for number, point in enumerate(sweep.points):
            one, where = evaluation_at(sweep, point), ("sweeps", index, "points", number)
            if one.status is not Status.PASSED or only not in ("", one.run):
                continue
            title = f"the sweep {sweep.name} at {words_of_values(point.values)}"
            if one.correctness is None:
                yield Doubt("SG308", where, f"{title} passed without a check")
                continue
            current = is_current(one)
            own = one.correctness.tolerance
            tolerance = kernel.tolerance.get(one.dtype, own) if current else own
            messages = [*_failed_gates(one.correctness, tolerance)]
            messages += _skipped_checks(kernel, one, one.correctness, ours.get(one.name)) if current else ()
            yield from (Doubt("SG308", (*where, "correctness"), f"{title}: {message}") for message in messages)
            if message := next(contradictory_rounds(one), ""):
                yield Doubt("SG308", (*where, "performance"), f"{title}: {message}")


def missing_logs(record: Record, known: Collection[tuple[str, str]]) -> Iterator[Doubt]:
    """Yield a doubt for each failure whose log is not among the logs that could be read, by (kernel, SHA-256)."""
    judged: Mapping[str, Sequence[Evaluation | Rejection]] = {
        "evaluations": record.evaluations,
        "rejections": record.rejections,
    }
    for member, several in judged.items():
        for index, one in enumerate(several):
            if one.log and (record.kernel, one.log) not in known:
                yield Doubt("SG308", (member, index, "log"), f"{one.name}: its log is missing, or is another text")


def damaged_sources(record: Record, files: SourceTexts, read: Callable[[str], object]) -> Iterator[Doubt]:
    """Yield a doubt for each kept text that today's is compared with and that `read` refuses, given the key's part."""
    for path, part in other_sources(record, files):
        try:
            read(part)
        except BadSamples as error:
            yield Doubt("SG308", place_of_part(record, path, part), f"the artefact {part}.source of {path}: {error}")


def _no_samples() -> Samples:
    raise BadSamples("it has a time and no samples that bear it out")


def _cell(one: Evaluation) -> tuple[object, ...]:
    """Return an id shared by all evaluations that were timed in the same rounds."""
    return (one.run, one.workload, one.dtype, tuple(sorted(one.params.items())))


def _title(one: Evaluation) -> str:
    params: Mapping[str, object] = one.params
    return f"{one.name}@{one.workload}:{one.dtype}" + "".join(f"[{n}={v}]" for n, v in sorted(params.items()))
