"""The calls of a job under ncu → `CallProfile`: what warps wait for, and how well they use caches and tensor cores.

ncu replays a kernel once for each group of counters, so that caches are warmer than in a timed call.  The profile
explains a time and is no time itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sitegen.measure.counters import ncu_tables, number_in, rows_of_calls
from sitegen.measure.profile_metrics import (
    LOAD_CONFLICTS,
    LOAD_REQUESTS,
    LOAD_SECTORS,
    PROFILE_METRICS,
    STALLS,
    STORE_CONFLICTS,
    STORE_REQUESTS,
    STORE_SECTORS,
    TENSOR,
    ProfileMetric,
)
from sitegen.measure.sources import write_sources
from sitegen.measure.tool_calls import CallToCount, calls_to_count
from sitegen.measure.tool_runs import find_tool
from sitegen.measure.workspace import Workspace
from sitegen.model.job import CallProfile, InspectJob

Values = Mapping[str, float]


def profile(job: InspectJob, workspace: Workspace) -> tuple[tuple[CallProfile, ...], tuple[str, ...]]:
    """Return the profiles of all calls that could be profiled, and warnings about the others."""
    ncu, calls = find_tool("ncu"), dict(enumerate(calls_to_count(job)))
    if ncu is None or not calls:
        return (), ("no profile: ncu is not installed here",) if calls else ()
    write_sources(workspace.folder / "counted", job.sources)
    found, problems = dict[int, CallProfile](), list[str]()
    names = tuple(metric.name for metric in PROFILE_METRICS)
    for run, table in ncu_tables(ncu, "profile", names, calls, workspace):
        found |= {number: _profile(calls[number], values) for number, values in _values(table) if number in run.ended}
        problems += [f"{calls[number].name} was not profiled: {why}" for number, why in run.failed.items()]
    if not found and not problems:
        problems.append("no profile: ncu listed no kernel")
    return tuple(found[number] for number in sorted(found)), tuple(dict.fromkeys(problems))


def _values(table: str) -> Iterator[tuple[int, Values]]:
    """Yield the number of each call in ncu's table and its metrics, combined over its kernels."""
    kernels: dict[int, list[Values]] = {}
    for word, row in rows_of_calls(table):
        if word.isdecimal():
            numbers = {metric.name: number_in(row[metric.name]) for metric in PROFILE_METRICS if metric.name in row}
            kernels.setdefault(int(word), []).append(numbers)
    for number, several in kernels.items():
        combined = {metric.name: _combined(metric, several) for metric in PROFILE_METRICS}
        yield number, {name: value for name, value in combined.items() if value is not None}


def _combined(metric: ProfileMetric, kernels: list[Values]) -> float | None:
    """Return the sum or the weighted mean over the kernels of a call; None when one of them has no number for it."""
    values = [kernel.get(metric.name, math.nan) for kernel in kernels]
    weights = [kernel.get(metric.weight, math.nan) if metric.weight else 1.0 for kernel in kernels]
    total = sum(value * weight for value, weight in zip(values, weights, strict=True) if weight)
    if not math.isfinite(total):
        return None
    return total / (sum(weights) or 1.0) if metric.weight else total


def _profile(call: CallToCount, values: Values) -> CallProfile:
    conflicts = [values[one.name] for one in (LOAD_CONFLICTS, STORE_CONFLICTS) if one.name in values]
    tensor = values.get(TENSOR.name)
    return CallProfile(
        name=call.name,
        stalls={reason: values[metric.name] for reason, metric in STALLS.items() if metric.name in values},
        tensor_share=None if tensor is None else tensor / 100,
        load_sectors=_ratio(values, LOAD_SECTORS, LOAD_REQUESTS),
        store_sectors=_ratio(values, STORE_SECTORS, STORE_REQUESTS),
        bank_conflicts=sum(conflicts) if conflicts else None,
    )


def _ratio(values: Values, over: ProfileMetric, under: ProfileMetric) -> float | None:
    """Return the ratio of two metrics; None when one is missing, or nothing was requested."""
    below = values.get(under.name, 0.0)
    return values[over.name] / below if below and over.name in values else None
