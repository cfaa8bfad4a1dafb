"""An `InspectJob` → the calls that ncu counts, and the calls that compute-sanitizer watches.

The parent and the program that the tools watch make the same lists, and name a call by its index in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.model.cost import Cost, cost_of
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload, Wrong
from sitegen.model.record import Role

SMALL_BYTES = 96 << 20
"""Bytes that a call under compute-sanitizer may read and write.  The tools make a kernel about a hundred times slower,
so that such a call takes some milliseconds; a persistent kernel of an H200 goes round its loop twice within it."""


@dataclass(frozen=True, slots=True)
class CallToCount:
    """One call whose counters are read."""

    role: Role
    name: str
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]

    @property
    def inputs_key(self) -> tuple[str, str, str]:
        """Calls with the same key share their inputs."""
        return self.workload.name, self.dtype, str(sorted(self.params.items()))


@dataclass(frozen=True, slots=True)
class CallToSanitize:
    """One implementation in one dtype, or a `wrong/` variant whose race must be reported, at each small shape."""

    implementation: Implementation
    dtype: str
    params: Mapping[str, Scalar]
    shapes: tuple[Mapping[str, int], ...]
    wrong: bool = False


def calls_to_count(job: InspectJob) -> tuple[CallToCount, ...]:
    """Return the calls to count; those that share their inputs stand together."""
    return tuple(
        CallToCount(role, name, workload, dtype, params)
        for workload in job.kernel.workloads
        for dtype in job.kernel.dtypes
        for params in job.sweep
        for role, name in _called(job.kernel, dtype)
    )


def calls_to_sanitize(job: InspectJob) -> tuple[CallToSanitize, ...]:
    """Return every implementation in each of its dtypes, and every `wrong/` variant that races in its first."""
    kernel = job.kernel
    ours = [(one, dtype) for one in kernel.implementations for dtype in one.dtypes or kernel.dtypes]
    races = [wrong for wrong in kernel.wrong if wrong.fails is Status.RACE]
    return (
        *(_call_of_implementation(kernel, one, dtype) for one, dtype in ours),
        *(_call_of_variant(kernel, wrong) for wrong in races),
    )


def small_shapes(kernel: Kernel, dtype: str, params: Mapping[str, Scalar]) -> tuple[Mapping[str, int], ...]:
    """Return the shapes at which the sanitizer watches a call: those of kernel.yaml, or two of the checks.

    Of the checks that are at most SMALL_BYTES large, the one with the most odd lengths tests the tails.  The largest
    one reaches code that runs only after several steps of a loop.
    """
    if kernel.sanitizer:
        return kernel.sanitizer
    shapes = kernel.checks or tuple(workload.dims for workload in kernel.workloads)
    costs = [(bytes_at(kernel, dims, dtype, params), dims) for dims in shapes]
    small = [(size, dims) for size, dims in costs if size <= SMALL_BYTES] or [min(costs, key=lambda one: one[0])]
    _, ragged = max(small, key=lambda one: (sum(length % 2 for length in one[1].values()), one[0]))
    _, largest = max(small, key=lambda one: one[0])
    return (ragged,) if ragged == largest else (ragged, largest)


def bytes_at(kernel: Kernel, dims: Mapping[str, int], dtype: str, params: Mapping[str, Scalar]) -> float:
    """Return the least bytes that a call at these dims reads and writes."""
    return cost_of(kernel, Workload("", dims), dtype, params).bytes


def cost_of_call(kernel: Kernel, call: CallToCount) -> Cost:
    """Return the least bytes and operations of a call."""
    return cost_of(kernel, call.workload, call.dtype, call.params)


def _called(kernel: Kernel, dtype: str) -> list[tuple[Role, str]]:
    """Return the implementations that offer the dtype, and the baselines."""
    offering = [one for one in kernel.implementations if dtype in (one.dtypes or kernel.dtypes)]
    implementations = [(Role.IMPLEMENTATION, one.name) for one in offering]
    return [*implementations, *((Role.BASELINE, name) for name in kernel.baselines)]


def _call_of_implementation(kernel: Kernel, implementation: Implementation, dtype: str) -> CallToSanitize:
    params = _first_params(kernel)
    return CallToSanitize(implementation, dtype, params, small_shapes(kernel, dtype, params))


def _call_of_variant(kernel: Kernel, wrong: Wrong) -> CallToSanitize:
    """Return the call of a variant in its first dtype, at the shape that it names."""
    dtype, params = (wrong.implementation.dtypes or kernel.dtypes)[0], _first_params(kernel)
    shapes = (wrong.at,) if wrong.at else small_shapes(kernel, dtype, params)
    return CallToSanitize(wrong.implementation, dtype, params, shapes, wrong=True)


def _first_params(kernel: Kernel) -> Mapping[str, Scalar]:
    return {name: values[0] for name, values in kernel.params.items()}
