"""Turn a sweep of kernel.yaml into its points: the values, the implementation and the workload of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import prod

from sitegen.model.kernel import Implementation, Sweep, Workload

MAX_POINTS = 64
"""Largest number of points of one sweep, which bounds its time on a GPU."""


def count_points(sweep: Sweep) -> int:
    """Return the number of points without listing them."""
    return prod(len(values) for values in (*sweep.constants.values(), *sweep.dims.values()))


def values_of_points(sweep: Sweep) -> tuple[Mapping[str, int], ...]:
    """Return the swept values of each point, by name; the last name changes fastest."""
    swept = {**sweep.constants, **sweep.dims}
    return tuple(dict(zip(swept, values, strict=True)) for values in product(*swept.values()))


def implementation_at(implementation: Implementation, sweep: Sweep, values: Mapping[str, int]) -> Implementation:
    """Return the implementation whose launch has the swept constants of one point."""
    if implementation.launch is None:
        return implementation
    swept = {name: str(values[name]) for name in sweep.constants}
    launch = replace(implementation.launch, constants={**implementation.launch.constants, **swept})
    return replace(implementation, launch=launch)


def workload_at(workload: Workload, sweep: Sweep, values: Mapping[str, int]) -> Workload:
    """Return the workload with the swept dims of one point."""
    return replace(workload, dims={**workload.dims, **{name: values[name] for name in sweep.dims}})
