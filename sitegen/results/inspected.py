"""The results of a run, what the tools said beside them → the same results with counters and findings in place.

A kernel's `InspectJob` runs beside its timed jobs and says two things: what the GPU's counters read of each call, and
what compute-sanitizer found in each implementation.  A finding is a failure that the gates could not see: it takes the
performance away.  Whatever failed by itself keeps its own status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sitegen.model.job import CallCounters, JobResult, SanitizerResult
from sitegen.model.kernel import Scalar, Status
from sitegen.model.record import Counters, Evaluation, Rejection, Role

CallId = tuple[str, Role, str, str, str, tuple[tuple[str, Scalar], ...]]
"""Kernel, role, name, workload, dtype, params: one evaluation of a run."""


def inspected(results: Sequence[JobResult]) -> tuple[JobResult, ...]:
    """Every result of the run, its evaluations and rejections with what the tools said of them.  Doing it twice
    changes nothing.
    """
    counters = dict(_counters(results))
    ours, wrong = ({(k, s.name): s for k, s in _sanitized(results) if s.wrong is variant} for variant in (False, True))
    return tuple(
        replace(
            result,
            evaluations=tuple(_inspected(e, kernel_of(result), counters, ours) for e in result.evaluations),
            rejections=tuple(_rejected(r, wrong.get((kernel_of(result), r.name))) for r in result.rejections),
        )
        for result in results
    )


def kernel_of(result: JobResult) -> str:
    """`softmax@8192x8192:float32`, `softmax/wrong` and `softmax/tools` are of softmax; the rest is of no kernel."""
    return result.id.split("@")[0].split("/")[0] if result.kind in ("kernel", "reject", "inspect") else ""


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
    sanitized: Mapping[tuple[str, str], SanitizerResult],
) -> Evaluation:
    if evaluation.status in (Status.NOT_RUN, Status.UNSUPPORTED):
        return evaluation
    found = sanitized.get((kernel, evaluation.name))
    judged = _judged(evaluation, found) if found and evaluation.role is Role.IMPLEMENTATION else evaluation
    if judged.status is not Status.PASSED:
        return replace(judged, counters=None)  # they hold a time, which only right results have
    return replace(judged, counters=counters.get(_call_id(kernel, evaluation), evaluation.counters))


def _judged(evaluation: Evaluation, found: SanitizerResult) -> Evaluation:
    evaluation = replace(evaluation, sanitizer=found.findings)
    if found.status is Status.PASSED or evaluation.status is not Status.PASSED:
        return evaluation
    return replace(evaluation, status=found.status, message=_message(found), performance=None, samples="")


def _rejected(rejection: Rejection, found: SanitizerResult | None) -> Rejection:
    """What the gates let through may still be found."""
    if found is None or found.status is Status.PASSED or rejection.status is not Status.PASSED:
        return rejection
    return replace(rejection, status=found.status, message=_message(found))


def _message(found: SanitizerResult) -> str:
    """`racecheck: Error: Potential WAR hazard …`, a line for each tool that found something."""
    return "\n".join(f"{tool}: {text}" for tool, text in found.findings.items() if text)
