"""Decide claims by the records: whether each holds on each GPU and at each cell that it names, and by what margin.

A claim holds with the whole 95 % interval of its figure, not with the median alone.  A claim about a stale record is
neither true nor false until it is measured again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.value import ALL, CellName, Claim, FigureReference, Relation, Source, ValueExpression
from sitegen.results.figures import cost_of_evaluation, run_of, workload_ceilings
from sitegen.results.quantities import (
    Measured,
    Missing,
    Quantity,
    cell_evaluations,
    cells_of,
    figure_on,
    named_evaluation,
    quantity_of,
)


class ClaimState(StrEnum):
    HOLDS = "holds"
    BROKEN = "broken"
    STALE = "stale"
    """The record is stale, so that it decides nothing."""
    MISSING = "missing"
    """There is no record of it yet."""


_WORST_FIRST = (ClaimState.BROKEN, ClaimState.MISSING, ClaimState.STALE, ClaimState.HOLDS)


@dataclass(frozen=True, slots=True)
class Check:
    """A claim on one GPU and at one cell."""

    gpu: str
    cell: CellName
    quantity: Quantity
    """The figure that decides; for `fastest` the least ratio of another implementation's time to its own."""
    supported: bool = False
    """True when the record supports the claim, also a stale one."""
    margin: float | None = None
    """Relative distance from the nearest end of the interval to the bound, negative when it is beyond; None without a
    figure."""
    beside: str = ""
    """The implementation or baseline with the least ratio, only for `fastest`."""

    @property
    def state(self) -> ClaimState:
        if self.quantity.stale:
            return ClaimState.STALE
        if self.quantity.missing is Missing.FAILED:
            return ClaimState.BROKEN
        if not self.quantity.is_known:
            return ClaimState.MISSING
        return ClaimState.HOLDS if self.supported else ClaimState.BROKEN


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with all its checks."""

    claim: Claim
    checks: tuple[Check, ...]

    @property
    def state(self) -> ClaimState:
        """The worst state of the checks."""
        states = {check.state for check in self.checks}
        return next((state for state in _WORST_FIRST if state in states), ClaimState.MISSING)

    @property
    def supported(self) -> bool:
        """True when every record supports it, stale or not."""
        return bool(self.checks) and all(check.supported for check in self.checks)


def decide(claim: Claim, measured: Measured) -> Verdict:
    """Return the claim with a check for each GPU and cell that it names."""
    return Verdict(claim, tuple(_checks(claim, measured)))


def _checks(claim: Claim, measured: Measured) -> Iterator[Check]:
    for gpu in _gpus(claim, measured):
        if claim.value is not None:
            quantity = _arithmetic(claim.value, measured, gpu)
            yield _compared(claim, Check(gpu, CellName(), quantity))
        elif kernel := measured.kernels.get(claim.kernel):
            cells = dict.fromkeys(cell for wanted in claim.cells for cell in cells_of(kernel, wanted))
            several = len(cells) > 1
            for cell in cells:
                if not (several and _does_not_apply(claim, kernel, measured, gpu, cell)):
                    yield _check(claim, kernel, measured, gpu, cell)


def _gpus(claim: Claim, measured: Measured) -> Sequence[str]:
    if claim.gpus and claim.gpus != (ALL,):
        return measured.gpu_ids(claim.gpus)
    known = measured.gpu_ids((), claim.kernel)
    return known if claim.gpus else known[:1] or ("",)


def _does_not_apply(claim: Claim, kernel: Kernel, measured: Measured, gpu: str, cell: CellName) -> bool:
    """Tell whether an implementation does not take a cell of several, which says nothing about the claim."""
    made = next((one for one in kernel.implementations if one.name == claim.name), None)
    if made and made.dtypes and cell.dtype not in made.dtypes:
        return True
    record = measured.records.kernels.get((kernel.name, gpu))
    evaluation = named_evaluation(cell_evaluations(kernel, record, cell), claim.name) if record else None
    return evaluation is not None and evaluation.status in (Status.UNSUPPORTED, Status.DOES_NOT_FIT)


def _check(claim: Claim, kernel: Kernel, measured: Measured, gpu: str, cell: CellName) -> Check:
    if claim.relation in (Relation.FASTEST, Relation.FASTEST_IMPLEMENTATION):
        return _fastest(claim, kernel, measured, gpu, cell)
    reference = _reference(claim, cell, claim.figure or "time", claim.argument)
    check = Check(gpu, cell, figure_on(reference, measured, gpu))
    if claim.relation in (Relation.MEMORY_BOUND, Relation.COMPUTE_BOUND):
        return _bound_by(claim, kernel, measured, check)
    return _compared(claim, check)


def _reference(claim: Claim, cell: CellName, figure: str, argument: str = "") -> FigureReference:
    return FigureReference(Source.EVALUATION, figure, claim.kernel, claim.name, cell, argument)


def _arithmetic(value: ValueExpression, measured: Measured, gpu: str) -> Quantity:
    on_gpu = tuple(one if one.gpu else replace(one, gpu=gpu) for one in value.references)
    return quantity_of(replace(value, references=on_gpu), measured)


def _compared(claim: Claim, check: Check) -> Check:
    """Return the check with the comparison of its figure's interval with the bounds."""
    one = check.quantity
    if not one.is_known:
        return check
    bound, last = claim.bounds[0], claim.bounds[-1]
    supported, margin = {
        Relation.AT_LEAST: (one.low >= bound, _beyond(one.low, bound)),
        Relation.ABOVE: (one.low > bound, _beyond(one.low, bound)),
        Relation.AT_MOST: (one.high <= bound, -_beyond(one.high, bound)),
        Relation.BELOW: (one.high < bound, -_beyond(one.high, bound)),
        Relation.BETWEEN: (
            bound <= one.low and one.high <= last,
            min(_beyond(one.low, bound), -_beyond(one.high, last)),
        ),
    }[claim.relation]
    return replace(check, supported=supported, margin=margin)


def _beyond(value: float, bound: float) -> float:
    """Return the relative distance of a value above a bound; the distance itself for a bound of zero."""
    return value / bound - 1 if bound else value


def _fastest(claim: Claim, kernel: Kernel, measured: Measured, gpu: str, cell: CellName) -> Check:
    """Return the check whether the interval of each other time over this one is above 1."""
    time = figure_on(_reference(claim, cell, "time"), measured, gpu)
    record = measured.records.kernels.get((kernel.name, gpu))
    if record is None or not time.is_known:
        return Check(gpu, cell, time)
    roles = (Role.IMPLEMENTATION,) if claim.relation is Relation.FASTEST_IMPLEMENTATION else _COMPETITORS
    names = [one.name for one in _timed(cell_evaluations(kernel, record, cell)) if one.role in roles]
    ours = time.origins[0].name
    ratios = {name: figure_on(_reference(claim, cell, "x", name), measured, gpu) for name in names if name != ours}
    known = {name: one for name, one in ratios.items() if one.is_known}
    if not known:
        return Check(gpu, cell, replace(time, missing=Missing.NOTHING_BESIDE))
    nearest = min(known, key=lambda name: known[name].low)
    least = known[nearest]
    return Check(gpu, cell, least, least.low > 1, least.low - 1, nearest)


_COMPETITORS = (Role.IMPLEMENTATION, Role.BASELINE)


def _timed(evaluations: Sequence[Evaluation]) -> Iterator[Evaluation]:
    return (one for one in evaluations if one.performance)


def _bound_by(claim: Claim, kernel: Kernel, measured: Measured, check: Check) -> Check:
    """Return the check whether the traffic or the operations of a workload take longer at the ceilings of its run."""
    record = measured.records.kernels.get((kernel.name, check.gpu))
    evaluation = named_evaluation(cell_evaluations(kernel, record, check.cell), claim.name) if record else None
    if record is None or evaluation is None or not check.quantity.is_known:
        return check
    ratio = _memory_over_compute(kernel, record, evaluation)
    if ratio is None:
        return replace(check, quantity=replace(check.quantity, missing=Missing.NO_CEILINGS))
    by_memory = claim.relation is Relation.MEMORY_BOUND
    share = ratio if by_memory else 1 / ratio if ratio else math.inf
    return replace(check, supported=share >= 1, margin=share - 1)


def _memory_over_compute(kernel: Kernel, record: Record, evaluation: Evaluation) -> float | None:
    cost, run = cost_of_evaluation(kernel, evaluation), run_of(record, evaluation)
    if cost is None or run is None:
        return None
    limits = workload_ceilings(kernel, record, run, cost, evaluation.dtype)
    memory, compute = limits.memory_us(cost), limits.compute_us(cost)
    return memory / compute if memory and compute else None
