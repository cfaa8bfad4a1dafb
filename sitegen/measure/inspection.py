"""What a kernel's tools are to look at: an `InspectJob` → the calls under ncu, and those under compute-sanitizer.

Parent and program make the same lists and speak of a call by its number in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.model.cost import Cost, cost_of
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload
from sitegen.model.record import Role

SMALL_BYTES = 4 << 20
"""A tool that follows every access makes a kernel some hundred times slower."""


@dataclass(frozen=True, slots=True)
class Counting:
    """One call to be counted."""

    role: Role
    name: str
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]

    @property
    def place(self) -> tuple[str, str, str]:
        """Calls at one place share their inputs."""
        return self.workload.name, self.dtype, str(sorted(self.params.items()))


@dataclass(frozen=True, slots=True)
class Sanitizing:
    """One implementation, or a variant that must be found to race, at each of the small shapes."""

    implementation: Implementation
    dtype: str
    params: Mapping[str, Scalar]
    shapes: tuple[Mapping[str, int], ...]
    wrong: bool = False


def calls_to_count(job: InspectJob) -> tuple[Counting, ...]:
    """Everybody at a place before the next place."""
    return tuple(
        Counting(role, name, workload, dtype, params)
        for workload in job.kernel.workloads
        for dtype in job.kernel.dtypes
        for params in job.sweep
        for role, name in _everybody(job.kernel, dtype)
    )


def calls_to_sanitize(job: InspectJob) -> tuple[Sanitizing, ...]:
    races = [wrong.implementation for wrong in job.kernel.wrong if wrong.fails is Status.RACE]
    return tuple(
        _sanitizing(job.kernel, implementation, wrong)
        for several, wrong in ((job.kernel.implementations, False), (races, True))
        for implementation in several
    )


def small_shapes(kernel: Kernel, dtype: str, params: Mapping[str, Scalar]) -> tuple[Mapping[str, int], ...]:
    """The raggedest of the checks that are small, for the tails; and the largest of them, for what only happens after
    several steps of a loop.
    """
    shapes = kernel.checks or tuple(workload.dims for workload in kernel.workloads)
    costs = [(cost_of(kernel, Workload("", dims), dtype, params).bytes, dims) for dims in shapes]
    small = [(size, dims) for size, dims in costs if size <= SMALL_BYTES] or [min(costs, key=lambda one: one[0])]
    _, ragged = max(small, key=lambda one: (sum(length % 2 for length in one[1].values()), one[0]))
    _, largest = max(small, key=lambda one: one[0])
    return (ragged,) if ragged == largest else (ragged, largest)


def cost_of_call(kernel: Kernel, call: Counting) -> Cost:
    return cost_of(kernel, call.workload, call.dtype, call.params)


def _everybody(kernel: Kernel, dtype: str) -> list[tuple[Role, str]]:
    """Who offers the dtype."""
    ours = [(Role.IMPLEMENTATION, one.name) for one in kernel.implementations if dtype in (one.dtypes or kernel.dtypes)]
    return [*ours, *((Role.BASELINE, name) for name in kernel.baselines)]


def _sanitizing(kernel: Kernel, implementation: Implementation, wrong: bool) -> Sanitizing:
    dtype = (implementation.dtypes or kernel.dtypes)[0]
    params = {name: values[0] for name, values in kernel.params.items()}
    return Sanitizing(implementation, dtype, params, small_shapes(kernel, dtype, params), wrong)
