"""Describe compiled implementations in lines: `softmax/fused sm_90a: 40 registers, no spills, LDG.128 x4 (…)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sitegen.model.job import UNJUDGED

if TYPE_CHECKING:
    from sitegen.model.job import JobResult
    from sitegen.model.record import Compilation, Evaluation, LaunchRecord

_SHOWN_INSTRUCTIONS = re.compile(r"LDG|STG|LD\.|ST\.|UBLK|UTMA|ATOM|RED|\w*MMA|LDL|STL")
"""The names of instructions that access memory, use tensor cores, or spill registers."""


def compiled_lines(results: Iterable[JobResult]) -> list[str]:
    """Return a line for each implementation in the results of a machine without a GPU. Workloads with the same code
    share a line.
    """
    places: dict[str, list[str]] = {}
    for result in results:
        kernel, _, place = result.id.partition("@")
        for evaluation in result.evaluations if result.environment is None else ():
            if evaluation.role == "implementation" and (made := describe_code(evaluation)):
                places.setdefault(f"{kernel}/{evaluation.name}  {made}", []).append(place)
    return [f"{line} ({', '.join(where)})" for line, where in sorted(places.items())]


def describe_code(evaluation: Evaluation) -> str:
    """Return a description of the compiled code, or the reason for which there is none; empty for a failure, which is
    reported elsewhere.
    """
    if evaluation.status.failed:
        return ""
    if evaluation.compilation is not None:
        return f"{evaluation.compilation.arch}: {', '.join(_parts(evaluation.compilation, evaluation.launch))}"
    return "" if evaluation.message.startswith(UNJUDGED) else evaluation.message


def _parts(made: Compilation, launch: LaunchRecord | None) -> Iterator[str]:
    if launch is not None and (kernel := described_kernel(launch)):
        yield kernel
    yield f"{made.registers} registers"
    yield f"{made.spill_bytes} bytes of local memory" if made.spill_bytes else "no spills"
    if made.shared_bytes:
        yield f"{made.shared_bytes} bytes of shared memory"
    if launch is not None and launch.occupancy is not None:
        yield f"occupancy {launch.occupancy:.0%}"
    yield from _instructions(made.instructions)


def described_kernel(launch: LaunchRecord) -> str:
    """Return the kernel that the resources belong to, where a call has several: `gradients, one of 2 launches`."""
    several = launch.launches > 1 and launch.kernel
    return f"{launch.kernel}, one of {launch.launches} launches" if several else ""


def _instructions(counts: Mapping[str, int]) -> Iterator[str]:
    return (f"{name} x{count}" for name, count in counts.items() if _SHOWN_INSTRUCTIONS.match(name))
