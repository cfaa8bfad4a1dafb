"""Turn a sweep of kernel.yaml into its points: the values, the implementation and the workload of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Implementation, Sweep, Workload
from sitegen.model.record import Evaluation, MeasuredSweep, Role, SweepPoint

MAX_POINTS = 64
"""Largest number of points of one sweep, which bounds its time on a GPU."""


def count_points(sweep: Sweep) -> int:
    """Return the number of points without listing them."""
    return prod(len(values) for values in (*sweep.constants.values(), *sweep.dims.values()))


def values_of_points(sweep: Sweep) -> tuple[Mapping[str, int], ...]:
    """Return the swept values of each point, by name; the last name changes fastest."""
    swept = {**sweep.constants, **sweep.dims}
    return tuple(dict(zip(swept, values, strict=True)) for values in product(*swept.values()))


def dims_in(name: str) -> tuple[str, ...]:
    """Return the dims that one name of a sweep sets: `M`, `N` and `K` for `M=N=K`."""
    return tuple(dim.strip() for dim in name.split("="))


def names_in_formulas(swept: Iterable[str], dims: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a formula over the points of a sweep may have: constants, dims and `itemsize`."""
    return tuple(dict.fromkeys((*(name for tied in swept for name in dims_in(tied)), *dims, "itemsize")))


def numbers_at(
    workload: Workload, dims: Collection[str], dtype: str, values: Mapping[str, int]
) -> dict[str, int | float]:
    """Return the value of each of `names_in_formulas` at one point."""
    swept = {name: value for tied, value in values.items() for name in dims_in(tied)}
    return {"itemsize": DTYPES[dtype].itemsize, **workload_at(workload, dims, values).dims, **swept}


def words_of_values(values: Mapping[str, int]) -> str:
    """Return the values of a point in words: `THREADS=256, UNROLL=2`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def implementation_at(implementation: Implementation, sweep: Sweep, values: Mapping[str, int]) -> Implementation:
    """Return the implementation whose launch has the swept constants of one point."""
    if implementation.launch is None:
        return implementation
    swept = {name: str(values[name]) for name in sweep.constants}
    launch = replace(implementation.launch, constants={**implementation.launch.constants, **swept})
    return replace(implementation, launch=launch)


def workload_at(workload: Workload, dims: Collection[str], values: Mapping[str, int]) -> Workload:
    """Return the workload with the swept dims of one point.

    `dims` are those of the kernel; other names of `values` are constants.  The workload keeps its name where no dim is
    swept, and else is named by its sizes, `512x512x512`.
    """
    swept = {dim: value for name, value in values.items() for dim in dims_in(name) if dim in dims}
    sizes = {**workload.dims, **swept}
    return Workload("x".join(str(size) for size in sizes.values()) if swept else workload.name, sizes)


def evaluation_at(sweep: MeasuredSweep, point: SweepPoint) -> Evaluation:
    """Return a point as an evaluation of its implementation, which the rules for evaluations can judge."""
    return Evaluation(
        Role.IMPLEMENTATION,
        sweep.implementation,
        sweep.workload,
        sweep.dtype,
        sweep.run,
        point.status,
        sweep.key,
        sweep.key_parts,
        sweep.params,
        point.message,
        point.correctness,
        point.performance,
        point.compilation,
        point.launch,
        gpu_hash=sweep.gpu_hash,
    )
