"""The goals of a kernel and a record → what each came to: met or missed, by whom, and what DRAM did in that call."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sitegen.model.kernel import Goal, Kernel
from sitegen.model.record import Evaluation, Record, Role
from sitegen.results.figures import Figures, cost_of_evaluation, figures, reread, run_of, workload_ceilings


class GoalState(StrEnum):
    MET = "met"
    MISSED = "missed"
    UNKNOWN = "unknown"
    """No measurement can tell."""


@dataclass(frozen=True, slots=True)
class DramUse:
    """The use of DRAM in one call, by the hardware counters."""

    reread: float
    """Bytes moved over the least that the formulas of the kernel ask for."""
    of_ceiling: float
    """Bytes moved in the time of the call, over those that the memory ceiling allows in it."""


@dataclass(frozen=True, slots=True)
class GoalResult:
    """A goal of a kernel and the value that decides it."""

    kernel: str
    goal: Goal
    state: GoalState
    value: float | None = None
    name: str = ""
    """The implementation that has the value."""
    figures: Figures | None = None
    """Of the evaluation that has the value."""
    dram: DramUse | None = None
    """None without counters of that evaluation."""

    @property
    def missed_by(self) -> float | None:
        """Return what the value lacks, as a share of the goal; None for a goal that is met or unknown."""
        if self.state is not GoalState.MISSED or self.value is None:
            return None
        return 1 - self.value / self.goal.at_least


def goal_results(kernel: Kernel, record: Record | None) -> tuple[GoalResult, ...]:
    """Return the result of each goal of kernel.yaml for the record's GPU; with several params the worst of them counts.

    Without a record every goal is unknown.
    """
    goals = (goal for goal in kernel.goals if record is None or goal.gpu in ("", record.gpu))
    return tuple(_goal_result(kernel, record, goal) for goal in goals)


def dram_use(kernel: Kernel, record: Record, evaluation: Evaluation) -> DramUse | None:
    """Return what DRAM did in a call; None without a time, a memory ceiling, or counters that counted right."""
    timed, cost, run = evaluation.performance, cost_of_evaluation(kernel, evaluation), run_of(record, evaluation)
    if timed is None or cost is None or run is None:
        return None
    factor = reread(evaluation.counters, cost)
    least_us = workload_ceilings(kernel, record, run, cost, evaluation.dtype).memory_us(cost)
    return DramUse(factor, factor * least_us / timed.median_us) if factor and least_us else None


def _goal_result(kernel: Kernel, record: Record | None, goal: Goal) -> GoalResult:
    by_params: dict[str, list[tuple[float, Evaluation, Figures]]] = {}
    for evaluation in record.evaluations if record else ():
        if record and _is_subject(kernel, goal, evaluation):
            computed = figures(kernel, record, evaluation)
            value = _value(goal.unit, computed)
            if computed is not None and value is not None:
                of_params = by_params.setdefault(str(sorted(evaluation.params.items())), [])
                of_params.append((value, evaluation, computed))
    if record is None or not by_params:
        return GoalResult(kernel.name, goal, GoalState.UNKNOWN)
    value, decides, computed = min((max(several, key=_rank) for several in by_params.values()), key=_rank)
    state = GoalState.MET if value >= goal.at_least else GoalState.MISSED
    return GoalResult(kernel.name, goal, state, value, decides.name, computed, dram_use(kernel, record, decides))


def _rank(candidate: tuple[float, Evaluation, Figures]) -> tuple[float, str]:
    """Return by what candidates are compared: the value, then the name."""
    return candidate[0], candidate[1].name


def _is_subject(kernel: Kernel, goal: Goal, evaluation: Evaluation) -> bool:
    """Tell whether an evaluation decides a goal; one of an implementation that the kernel no longer has does not."""
    return (
        evaluation.role is Role.IMPLEMENTATION
        and evaluation.name in {one.name for one in kernel.implementations}
        and goal.subject in ("best", evaluation.name)
        and (evaluation.workload, evaluation.dtype) == (goal.workload, goal.dtype)
    )


def _value(unit: str, computed: Figures | None) -> float | None:
    if computed is None:
        return None
    known = {"of-ceiling": computed.of_ceiling, "of-copy": computed.of_copy, "of-read": computed.of_read}
    return known[unit] if unit in known else computed.ratios.get(unit.removeprefix("x").strip())
