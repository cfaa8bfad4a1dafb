"""Check the formulas of kernel.yaml against the bytes that the GPU's counters measured.

Bandwidth, of-ceiling and the roofline are computed from `reads` and `writes`, which an author types.  At a workload
far larger than the L2, some implementation comes near this least traffic.  So the implementation that moves the fewest
bytes must not move fewer than the formulas say, nor many more.  Only the lower bound is checked for two kinds of
kernels.  Matrix products read their operands several times when these are larger than the caches.  Kernels that move
numbers in the order of an index get whole sectors of memory for a few bytes of each.  Only the lower bound is checked,
too, while an implementation has no counters: it may be the one that moves the fewest bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.model.cost import Cost
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Counters, Evaluation, Record, Role, Run
from sitegen.results.figures import cost_of_evaluation

FEWER, MORE = 0.02, 0.05
"""Largest relative difference of the fewest bytes counted below and above the formula."""

INDEX_DTYPES = ("int32", "int64")
"""Dtypes of an input that holds places in another input."""

JUDGED_FACTOR = 8
"""Least traffic of a workload that is checked, in sizes of the L2.

A call finds up to 7 MB of the call before it in the L2 of an H200 (a ninth of its size), or leaves as much there to be
written later, also when the kernel asks for its lines to be evicted first.  From this traffic on that is a smaller
share than FEWER.
"""

CountedCall = tuple[Evaluation, Counters, Cost]


def wrong_formulas(kernel: Kernel, record: Record, run: Run) -> Iterator[str]:
    """Yield a sentence for each workload, dtype and params at which a call moves other bytes than `reads + writes`.

    Only counters of this run are held against the formulas; those of other runs tell who moves the fewest bytes.
    """
    for evaluations in _passed_by_place(record).values():
        counted = list(_counted(kernel, evaluations, run))
        if not counted:
            continue
        evaluation, counters, cost = min(counted, key=lambda one: one[1].dram_bytes)
        if (counters.run or evaluation.run) == run.id:
            yield from _judge_formula(kernel, evaluation, counters, cost, is_least=len(counted) == len(evaluations))


def _passed_by_place(record: Record) -> dict[tuple[str, str, str], list[Evaluation]]:
    """Return the implementations that passed by their workload, dtype and params."""
    places: dict[tuple[str, str, str], list[Evaluation]] = {}
    for one in record.evaluations:
        if one.role is Role.IMPLEMENTATION and one.status is Status.PASSED:
            places.setdefault((one.workload, one.dtype, str(sorted(one.params.items()))), []).append(one)
    return places


def _counted(kernel: Kernel, evaluations: Sequence[Evaluation], run: Run) -> Iterator[CountedCall]:
    """Yield those that have valid counters and move far more than the L2 of this run's GPU holds."""
    for evaluation in evaluations:
        counters, cost = evaluation.counters, cost_of_evaluation(kernel, evaluation)
        if counters and counters.valid and cost and cost.bytes > JUDGED_FACTOR * run.environment.l2_bytes:
            yield evaluation, counters, cost


def _judge_formula(
    kernel: Kernel, evaluation: Evaluation, counters: Counters, cost: Cost, *, is_least: bool
) -> Iterator[str]:
    share = counters.dram_bytes / cost.bytes - 1
    may_be_more = not is_least or cost.is_matrix or moves_by_index(kernel, cost)
    if share >= -FEWER and (share <= MORE or may_be_more):
        return
    place = f"{kernel.name}@{evaluation.workload}:{evaluation.dtype}"
    says = f"reads + writes = {_gb(cost.read_bytes)} + {_gb(cost.written_bytes)} = {_gb(cost.bytes)} GB"
    moved = f"{_gb(counters.dram_read_bytes)} + {_gb(counters.dram_written_bytes)} = {_gb(counters.dram_bytes)} GB"
    least = f"`{evaluation.name}`, who moves the fewest bytes, moves {moved} ({share:+z.1%})"
    yield f"{place}: kernel.yaml says {says}, but {least}"


def moves_by_index(kernel: Kernel, cost: Cost) -> bool:
    """Return whether the kernel only moves numbers and one of its inputs says from where."""
    return cost.flops == 0 and any(tensor.dtype in INDEX_DTYPES for tensor in kernel.inputs)


def _gb(count: float) -> str:
    return f"{count / 1e9:.3f}"
