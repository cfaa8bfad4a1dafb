"""Check the formulas of kernel.yaml against the bytes that the GPU's counters measured.

Bandwidth, of-ceiling and the roofline are computed from `reads` and `writes`, which an author types.  At a workload
far larger than the L2, some implementation comes near this least traffic.  So the implementation that moves the fewest
bytes must not move fewer than the formulas say, nor many more.  Only the lower bound is checked for two kinds of
kernels.  Matrix products read their operands several times when these are larger than the caches.  Kernels that move
numbers in the order of an index get whole sectors of memory for a few bytes of each.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    """Yield a sentence for each workload, dtype and params at which a call moves other bytes than `reads + writes`."""
    places: dict[tuple[str, str, str], list[CountedCall]] = {}
    for one in _counted(kernel, record, run):
        evaluation = one[0]
        places.setdefault((evaluation.workload, evaluation.dtype, str(sorted(evaluation.params.items()))), []).append(
            one
        )
    for counted in places.values():
        yield from _judge_formula(kernel, *min(counted, key=lambda one: one[1].dram_bytes))


def _counted(kernel: Kernel, record: Record, run: Run) -> Iterator[CountedCall]:
    """Yield the implementations that passed, have valid counters of this run, and move far more than the L2 holds."""
    for evaluation in record.evaluations:
        ours = evaluation.role is Role.IMPLEMENTATION and evaluation.status is Status.PASSED
        counters = evaluation.counters
        if not ours or counters is None or not counters.valid or (counters.run or evaluation.run) != run.id:
            continue
        cost = cost_of_evaluation(kernel, evaluation)
        if cost and cost.bytes > JUDGED_FACTOR * run.environment.l2_bytes:
            yield evaluation, counters, cost


def _judge_formula(kernel: Kernel, evaluation: Evaluation, counters: Counters, cost: Cost) -> Iterator[str]:
    share = counters.dram_bytes / cost.bytes - 1
    if share >= -FEWER and (share <= MORE or cost.is_matrix or moves_by_index(kernel, cost)):
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
