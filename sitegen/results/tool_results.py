"""Add the results of the tools, counters and sanitizer findings, to the evaluations of a run.

A kernel's `InspectJob` runs beside its timed jobs.  It gives the GPU's counters for each call, and the findings of
compute-sanitizer for each implementation.  A finding is a failure that the gates of correctness could not see, so the
evaluation fails and loses its performance.  An evaluation that failed already keeps its status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sitegen.model.job import CallCounters, JobResult, SanitizerResult
from sitegen.model.kernel import UNTRIED, Scalar, Status
from sitegen.model.record import Counters, Evaluation, Rejection, Role

CallId = tuple[str, Role, str, str, str, tuple[tuple[str, Scalar], ...]]
"""Kernel, role, name, workload, dtype and params of one evaluation of a run."""


def with_tool_results(results: Sequence[JobResult]) -> tuple[JobResult, ...]:
    """Return the results of a run with counters and findings in evaluations and rejections.

    A second call on its own output changes nothing.
    """
    counters = dict(_counters(results))
    ours = {(k, s.name, s.dtype): s for k, s in _sanitized(results) if not s.wrong}
    wrong = {(k, s.name): s for k, s in _sanitized(results) if s.wrong}
    return tuple(
        replace(
            result,
            evaluations=tuple(_inspected(e, kernel_of(result), counters, ours) for e in result.evaluations),
            rejections=tuple(_rejected(r, wrong.get((kernel_of(result), r.name))) for r in result.rejections),
        )
        for result in results
    )


def kernel_of(result: JobResult) -> str:
    """Return the kernel of a job by its id, `softmax` for `softmax@8192x8192:float32`, `softmax/wrong`,
    `softmax/sweep/threads` and `softmax/tools`; empty for ceilings and notebooks.
    """
    return "" if result.kind in ("ceilings", "notebook") else result.id.split("@")[0].split("/")[0]


def _counters(results: Sequence[JobResult]) -> Iterator[tuple[CallId, Counters]]:
    for result in results:
        yield from ((_call_id(kernel_of(result), one), one.counters) for one in result.counted)


def _sanitized(results: Sequence[JobResult]) -> Iterator[tuple[str, SanitizerResult]]:
    for result in results:
        yield from ((kernel_of(result), one) for one in result.sanitized)


def _call_id(kernel: str, one: Evaluation | CallCounters) -> CallId:
    return (kernel, one.role, one.name, one.workload, one.dtype, tuple(sorted(one.params.items())))


def _inspected(
    evaluation: Evaluation,
    kernel: str,
    counters: Mapping[CallId, Counters],
    sanitized: Mapping[tuple[str, str, str], SanitizerResult],
) -> Evaluation:
    if evaluation.status in UNTRIED:
        return evaluation
    result = sanitized.get((kernel, evaluation.name, evaluation.dtype)) or sanitized.get((kernel, evaluation.name, ""))
    judged = _judged(evaluation, result) if result and evaluation.role is Role.IMPLEMENTATION else evaluation
    if judged.status is not Status.PASSED:
        return replace(judged, counters=None)  # they hold a time, which only right results have
    return replace(judged, counters=counters.get(_call_id(kernel, evaluation), evaluation.counters))


def _judged(evaluation: Evaluation, result: SanitizerResult) -> Evaluation:
    evaluation = replace(evaluation, sanitizer=result.findings)
    if result.status is Status.PASSED or evaluation.status is not Status.PASSED:
        return evaluation
    return replace(evaluation, status=result.status, message=_message(result), performance=None, samples="")


def _rejected(rejection: Rejection, result: SanitizerResult | None) -> Rejection:
    """Return the rejection with the status of a finding, when the variant passed the gates.

    A race that is expected may also give wrong results that happen to be the same in each run: `incorrect`.
    """
    if result is None or result.status is Status.PASSED:
        return rejection
    same_wrong_results = rejection.expected is result.status is Status.RACE and rejection.status is Status.INCORRECT
    if rejection.status is not Status.PASSED and not same_wrong_results:
        return rejection
    return replace(rejection, status=result.status, message=_message(result))


def _message(result: SanitizerResult) -> str:
    """Return a line for each tool with a finding: `racecheck: Error: Potential WAR hazard …`."""
    return "\n".join(f"{tool}: {text}" for tool, text in result.findings.items() if text)
