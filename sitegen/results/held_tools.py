"""A record and the results of a tools job → the record with counters and findings in what earlier runs had made.

A tools job may come back without the jobs that time its kernel: a bundle holds it alone, or a run was cut short.  Its
counters and findings then belong to the evaluations and rejections that the record holds, where these were made of
exactly the sources that the tools saw.  All others stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.model.job import JOB_SCHEMA, CallCounters, InspectJob, JobResult, SanitizerResult
from sitegen.model.kernel import Scalar, Status
from sitegen.model.record import Evaluation, Record, Rejection, Role
from sitegen.results.freshness import key_changes, why_stale
from sitegen.results.keys import baseline_parts, implementation_key, wrong_key
from sitegen.results.records import cell_name, evaluation_id
from sitegen.results.same_code import Parts, SameCode
from sitegen.results.tool_results import with_tool_results

NAMED = 3
"""Most names in the reason of a sentence; the others are counted."""
ABSENT = "the record has no such evaluation"
NEWER = "the record has those of a newer run"
UNKNOWN = "the record does not say of which sources it was made"


@dataclass(frozen=True, slots=True)
class HeldTools:
    """A record with the results of a tools job, and what became of them."""

    record: Record
    reached: int
    """Number of evaluations and rejections that have a counter or a finding of this job now."""
    added: tuple[str, ...] = ()
    """A sentence about the evaluations of earlier runs among them, and one for each that fails now."""
    unused: str = ""
    """A sentence about the counters and findings that were not stored, and why; empty when all were."""


def with_held_tools(job: InspectJob, result: JobResult, record: Record, run: str, same: SameCode) -> HeldTools:
    """Return the record with the counters and findings in what is fresh; `run` is the `Run.id` of the job.

    A second call on its own output changes nothing.
    """
    fresh = [one for one in record.evaluations if not _why_other(job, record, one, run, same)]
    wrong = [one for one in record.rejections if not _why_other_variant(job, one, run, same)]
    before = JobResult(JOB_SCHEMA, job.kernel.name, "kernel", evaluations=tuple(fresh), rejections=tuple(wrong))
    after = with_tool_results([before, result])[0]
    pairs = [(old, new) for old, new in zip(fresh, after.evaluations, strict=True) if _is_reached(old, new)]
    changed = [(old, new) for old, new in zip(wrong, after.rejections, strict=True) if new != old]
    evaluations = {evaluation_id(old): _dated(old, new, result, run) for old, new in pairs}
    rejections = {old.name: replace(new, run=run) for old, new in changed}
    return HeldTools(
        replace(
            record,
            evaluations=tuple(evaluations.get(evaluation_id(one), one) for one in record.evaluations),
            rejections=tuple(rejections.get(one.name, one) for one in record.rejections),
        ),
        len(pairs) + len(changed),
        tuple(_added(job, [(old, new) for old, new in pairs if old.run != run], changed)),
        _sentence(job, _unused(job, result, record, run, same)),
    )


def _is_reached(old: Evaluation, new: Evaluation) -> bool:
    """Tell whether the tools said something of an evaluation, even if they said the same before."""
    return new.counters is not old.counters or new.sanitizer is not old.sanitizer


def _dated(old: Evaluation, new: Evaluation, result: JobResult, run: str) -> Evaluation:
    """Return a reached evaluation that says in which run the tools looked at it.

    A failure is a result of that run, and no time of the earlier one is left.
    """
    if new.status is not old.status:
        first = old.first_passed or (old.run if old.run != run else "")
        gpu_hash = result.environment.gpu_hash if result.environment else ""
        return replace(new, run=run, gpu_hash=gpu_hash, first_passed=first, sanitizer_run="")
    other = run if old.run != run else ""
    if new.counters is not None and new.counters is not old.counters:
        new = replace(new, counters=replace(new.counters, run=other))
    return replace(new, sanitizer_run=other) if new.sanitizer is not old.sanitizer else new


def _why_other(job: InspectJob, record: Record, one: Evaluation, run: str, same: SameCode) -> str:
    """Return why the tools say nothing about an evaluation; empty when they saw the same sources."""
    if max(_runs_of_tools(one), default="") > run:
        return NEWER
    workload = next((each for each in job.kernel.workloads if each.name == one.workload), None)
    if workload is None:
        return ABSENT
    if one.role is Role.IMPLEMENTATION:
        made = next((each for each in job.kernel.implementations if each.name == one.name), None)
        if made is None:
            return ABSENT
        key = implementation_key(job.kernel, made, workload, one.dtype, one.params, job.sources)
        return _made_of_others(why_stale(key, one.key, one.key_parts, same))
    parts = baseline_parts(job.kernel, workload, one.dtype, one.params, job.sources)
    return _why_other_baseline(parts, [each for each in record.evaluations if _was_timed_beside(each, one)], same)


def _runs_of_tools(one: Evaluation) -> Iterator[str]:
    """Yield the runs whose tools said something about an evaluation."""
    if one.counters:
        yield one.counters.run or one.run
    if one.sanitizer:
        yield one.sanitizer_run or one.run


def _made_of_others(changes: Sequence[str]) -> str:
    return f"made of other sources: {', '.join(changes)}" if changes else ""


def _why_other_baseline(parts: Parts, beside: Sequence[Evaluation], same: SameCode) -> str:
    """Return why a baseline is another; the keys of the implementations that were timed beside it say what it was."""
    if not beside:
        return UNKNOWN
    held = {name: part for name, part in beside[0].key_parts.items() if name in parts}
    return _made_of_others(tuple(key_changes(parts, held, same)))


def _was_timed_beside(one: Evaluation, baseline: Evaluation) -> bool:
    return one.role is Role.IMPLEMENTATION and _place(one) == _place(baseline)


def _place(one: Evaluation) -> tuple[str, str, str, Mapping[str, Scalar]]:
    return one.run, one.workload, one.dtype, dict(one.params)


def _why_other_variant(job: InspectJob, rejection: Rejection, run: str, same: SameCode) -> str:
    made = next((w.implementation for w in job.kernel.wrong if w.implementation.name == rejection.name), None)
    if made is None:
        return ABSENT
    if rejection.run > run:
        return NEWER
    key = wrong_key(job.kernel, made, job.sources)
    return _made_of_others(why_stale(key, rejection.key, rejection.key_parts, same))


def _added(
    job: InspectJob, pairs: Sequence[tuple[Evaluation, Evaluation]], changed: Sequence[tuple[Rejection, Rejection]]
) -> Iterator[str]:
    if pairs:
        yield f"{job.id}: counters and findings went to {len(pairs)} evaluations of earlier runs"
    for old, new in pairs:
        if new.status is not old.status:
            yield f"{job.kernel.name}/{_title(job, old)}: {new.status.words} now: {new.message}"
    yield from (f"{job.kernel.name}/wrong/{new.name}: {new.status.words} now: {new.message}" for _, new in changed)


def _unused(job: InspectJob, result: JobResult, record: Record, run: str, same: SameCode) -> Iterator[tuple[str, str]]:
    """Yield what was not stored, and why."""
    held = {evaluation_id(one): one for one in record.evaluations}
    for call in result.counted:
        one = held.get((call.role, call.name, call.workload, call.dtype, tuple(sorted(call.params.items()))))
        why = _why_other(job, record, one, run, same) if one else ABSENT
        if one and not why and one.status is not Status.PASSED and one.run != run:
            why = f"its status is {one.status.words}"
        if why:
            yield _title(job, call), why
    for found in result.sanitized:
        if found.status is not Status.PASSED and (why := _why_unheard(job, found, record, run, same)):
            yield f"the finding in {found.name}", why


def _why_unheard(job: InspectJob, found: SanitizerResult, record: Record, run: str, same: SameCode) -> str:
    """Return why a finding reached nothing; empty when it reached an evaluation or a rejection."""
    if found.wrong:
        reasons = [_why_other_variant(job, one, run, same) for one in record.rejections if one.name == found.name]
    else:
        named = (one for one in record.evaluations if (one.role, one.name) == (Role.IMPLEMENTATION, found.name))
        reasons = [_why_other(job, record, one, run, same) for one in named if found.dtype in ("", one.dtype)]
    return (reasons or [ABSENT])[0] if all(reasons) else ""


def _title(job: InspectJob, one: Evaluation | CallCounters) -> str:
    return f"{one.name}@{cell_name(one.workload, one.dtype, one.params, job.kernel)}"


def _sentence(job: InspectJob, unused: Iterator[tuple[str, str]]) -> str:
    """Return `softmax/tools: fused@8x8:float32 and 2 more (made of other sources: fused.py changed); …`."""
    by_reason: dict[str, list[str]] = {}
    for what, why in unused:
        by_reason.setdefault(why, []).append(what)
    parts = (f"{_listed(names)} ({why})" for why, names in by_reason.items())
    return f"{job.id}: {'; '.join(parts)}" if by_reason else ""


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
