"""What the GPU's counters read from memory against the formulas of kernel.yaml → the formulas that cannot be right.

Bandwidth, of-ceiling and the roofline stand on `reads` and `writes`, which an author types.  At a workload far larger
than the L2 somebody comes near them: whoever moves the fewest bytes must not move fewer than the least, nor many more.
Matrix products read their operands several times from any cache that is smaller than they are, so of them only the
lower bound is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.model.cost import Cost
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Counters, Evaluation, Record, Role, Run
from sitegen.results.measures import cost_of_evaluation

FEWER, MORE = 0.02, 0.05
"""How far the fewest bytes counted may be below and above the formula."""

JUDGED_FACTOR = 8
"""How many times the L2 the least of a workload is, to be judged.  What a call finds there of the call before it, or
leaves there to be written after it, is up to 7 MB on an H200 (a ninth of its L2), also for kernels that ask for their
lines to be evicted first: less than FEWER only from here on."""

Counted = tuple[Evaluation, Counters, Cost]


def wrong_formulas(kernel: Kernel, record: Record, run: Run) -> Iterator[str]:
    """One sentence for each workload, dtype and params at which `reads + writes` is not what a call moves."""
    places: dict[tuple[str, str, str], list[Counted]] = {}
    for one in _counted(kernel, record, run):
        evaluation = one[0]
        places.setdefault((evaluation.workload, evaluation.dtype, str(sorted(evaluation.params.items()))), []).append(
            one
        )
    for counted in places.values():
        yield from _judged(kernel, *min(counted, key=lambda one: one[1].dram_bytes))


def _counted(kernel: Kernel, record: Record, run: Run) -> Iterator[Counted]:
    """Our implementations of this run that passed, where the counters are right and the caches too small to matter."""
    for evaluation in record.evaluations:
        ours = evaluation.role is Role.IMPLEMENTATION and evaluation.status is Status.PASSED
        counters = evaluation.counters
        if not ours or evaluation.run != run.id or counters is None or not counters.valid:
            continue
        cost = cost_of_evaluation(kernel, evaluation)
        if cost and cost.bytes > JUDGED_FACTOR * run.environment.l2_bytes:
            yield evaluation, counters, cost


def _judged(kernel: Kernel, evaluation: Evaluation, counters: Counters, cost: Cost) -> Iterator[str]:
    share = counters.dram_bytes / cost.bytes - 1
    if share >= -FEWER and (share <= MORE or cost.is_matrix):
        return
    place = f"{kernel.name}@{evaluation.workload}:{evaluation.dtype}"
    says = f"reads + writes = {_gb(cost.read_bytes)} + {_gb(cost.written_bytes)} = {_gb(cost.bytes)} GB"
    moved = f"{_gb(counters.dram_read_bytes)} + {_gb(counters.dram_written_bytes)} = {_gb(counters.dram_bytes)} GB"
    least = f"`{evaluation.name}`, who moves the fewest bytes, moves {moved} ({share:+z.1%})"
    yield f"{place}: kernel.yaml says {says}, but {least}"


def _gb(count: float) -> str:
    return f"{count / 1e9:.3f}"
