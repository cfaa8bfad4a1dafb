"""Compare the evaluations and cells of a site with its records: fresh, stale, missing or outdated, and why.

A reason reads `stale: fused.py changed` or `outdated: triton 3.6.0, the newest record has 3.7.0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitegen.model.document import Cell
from sitegen.model.job import Key
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload
from sitegen.model.record import CellRecord, Environment, Evaluation, MeasuredSweep, Record, Rejection, Role
from sitegen.results.dependencies import SourceTexts
from sitegen.results.keys import cell_keys, implementation_key, sweep_key, wrong_key
from sitegen.results.records import EvaluationId, Records, cell_name, evaluation_id, param_combinations
from sitegen.results.same_code import Parts, SameCode, as_today, is_same_key

COMPARED = ("driver", "torch", "triton")
Versions = Mapping[str, str]
"""Newest version that a record of the GPU was made with, by name (`triton`)."""


class FreshnessState(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    """The record was made with other code than today's."""
    MISSING = "missing"
    """There is no record, or every attempt was lost."""
    OUTDATED = "outdated"
    """The code is today's, but another record of the same GPU was made with a newer driver, torch or Triton."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The state of an evaluation or a cell, and the reasons."""

    state: FreshnessState
    reasons: tuple[str, ...] = ()
    """Short reasons: `fused.py changed`."""

    @property
    def sentence(self) -> str:
        """State and reasons: `stale: fused.py changed`, `fresh`, `missing`."""
        return f"{self.state}: {', '.join(self.reasons)}" if self.reasons else str(self.state)


@dataclass(frozen=True, slots=True)
class WantedEvaluation:
    """An evaluation that the site asks for; `key` is None for a baseline, which goes stale with its job."""

    kernel: Kernel
    role: Role
    name: str
    workload: Workload
    dtype: str
    params: Mapping[str, Scalar]
    key: Key | None

    @property
    def id(self) -> EvaluationId:
        """Identity of the evaluation in a record."""
        return (self.role, self.name, self.workload.name, self.dtype, tuple(sorted(self.params.items())))

    @property
    def title(self) -> str:
        """`softmax/fused@8192x8192:float32`."""
        return f"{self.kernel.name}/{self.name}@{cell_name(self.workload.name, self.dtype, self.params, self.kernel)}"


def wanted_evaluations(kernel: Kernel, files: SourceTexts) -> Iterator[WantedEvaluation]:
    """Yield every evaluation that a kernel asks for, with today's keys: implementations and baselines at each
    workload, dtype and params.
    """
    for workload in kernel.workloads:
        for dtype in kernel.dtypes:
            for params in param_combinations(kernel):
                for one in implementations_for(kernel, dtype):
                    key = implementation_key(kernel, one, workload, dtype, params, files)
                    yield WantedEvaluation(kernel, Role.IMPLEMENTATION, one.name, workload, dtype, params, key)
                for name in kernel.baselines:
                    yield WantedEvaluation(kernel, Role.BASELINE, name, workload, dtype, params, None)


def implementations_for(kernel: Kernel, dtype: str) -> tuple[Implementation, ...]:
    """Return the implementations of a kernel that take this dtype."""
    return tuple(one for one in kernel.implementations if not one.dtypes or dtype in one.dtypes)


def kernel_freshness(
    kernel: Kernel, files: SourceTexts, record: Record | None, newest: Versions, same: SameCode
) -> dict[str, Freshness]:
    """Return the freshness of all evaluations, `wrong/` variants and sweeps of a kernel, in the order of kernel.yaml.

    The keys are titles: `softmax/fused@8192x8192:float32`, `softmax/wrong/no_max`, `softmax/sweep/threads`.
    """
    evaluations = {evaluation_id(e): e for e in record.evaluations} if record else {}
    made = {run.id: run.environment for run in record.runs} if record else {}
    rejected = {r.name: r for r in record.rejections} if record else {}
    states = {
        one.title: _of_evaluation(one, evaluations.get(one.id), made, newest, same)
        for one in wanted_evaluations(kernel, files)
    }
    for wrong in kernel.wrong:
        name = wrong.implementation.name
        states[f"{kernel.name}/wrong/{name}"] = rejection_freshness(
            kernel, wrong.implementation, files, rejected.get(name), same
        )
    swept = {sweep.name: sweep for sweep in record.sweeps} if record else {}
    for sweep in kernel.sweeps:
        key = sweep_key(kernel, sweep, files)
        states[sweep_title(kernel.name, sweep.name)] = _of_sweep(key, swept.get(sweep.name), made, newest, same)
    return states


def sweep_title(kernel: str, sweep: str) -> str:
    """Return `softmax/sweep/threads`, the name of a sweep in `run` and `status`."""
    return f"{kernel}/sweep/{sweep}"


def rejection_freshness(
    kernel: Kernel, wrong: Implementation, files: SourceTexts, rejection: Rejection | None, same: SameCode
) -> Freshness:
    """Return the freshness of a `wrong/` variant; `rejection` is its stored result."""
    if rejection is None or rejection.status is Status.NOT_RUN:
        return Freshness(FreshnessState.MISSING)
    return _freshness_by_key(wrong_key(kernel, wrong, files), rejection.key, rejection.key_parts, same)


def cell_freshness(
    post: str, cells: Sequence[Cell], files: SourceTexts, records: Mapping[str, CellRecord], newest: Versions
) -> dict[str, Freshness]:
    """Return the freshness of a post's cells by their labels.

    `post` is the path of the post's file; `records` are the cells' records of one GPU, by label.
    """
    states = {}
    for cell, key in zip(cells, cell_keys(post, cells, files), strict=True):
        record = records.get(cell.label)
        if record is None or record.status is Status.NOT_RUN:
            states[cell.label] = Freshness(FreshnessState.MISSING)
        else:
            by_key = _freshness_by_key(key, record.key, record.key_parts, {})
            states[cell.label] = _check_versions(by_key, record.run.environment, newest)
    return states


def newest_versions(records: Records, gpu: str) -> Versions:
    """Return the newest driver, torch and Triton that any record of the GPU was made with; empty without records."""
    seen = [{name: getattr(e, name) for name in COMPARED} for e in records.environments(gpu)]
    return {name: max((one[name] for one in seen), key=_version) for name in COMPARED if seen}


def _of_evaluation(
    one: WantedEvaluation,
    evaluation: Evaluation | None,
    made: Mapping[str, Environment],
    newest: Versions,
    same: SameCode,
) -> Freshness:
    if evaluation is None:
        return Freshness(FreshnessState.MISSING)
    if evaluation.status is Status.NOT_RUN:
        return Freshness(FreshnessState.MISSING, (evaluation.message.splitlines()[0],) if evaluation.message else ())
    by_key = (
        _freshness_by_key(one.key, evaluation.key, evaluation.key_parts, same)
        if one.key
        else Freshness(FreshnessState.FRESH)
    )
    return _check_versions(by_key, made.get(evaluation.run), newest)


def _of_sweep(
    key: Key, measured: MeasuredSweep | None, made: Mapping[str, Environment], newest: Versions, same: SameCode
) -> Freshness:
    if measured is None or all(point.status is Status.NOT_RUN for point in measured.points):
        return Freshness(FreshnessState.MISSING)
    by_key = _freshness_by_key(key, measured.key, measured.key_parts, same)
    return _check_versions(by_key, made.get(measured.run), newest)


def _freshness_by_key(key: Key, digest: str, parts: Parts, same: SameCode) -> Freshness:
    reasons = why_stale(key, digest, parts, same)
    return Freshness(FreshnessState.STALE, reasons) if reasons else Freshness(FreshnessState.FRESH)


def why_stale(key: Key, digest: str, parts: Parts, same: SameCode) -> tuple[str, ...]:
    """Return the reasons why a stored key, its digest and its parts, is not `key`; none when it is."""
    if is_same_key(key, digest, parts, same):
        return ()
    return tuple(key_changes(key.parts, parts, same)) or ("its key changed",)


def key_changes(now: Parts, then: Parts, same: SameCode) -> Iterator[str]:
    """Yield in words the parts of a key that are new, gone or different in more than comments."""
    now, then = as_today(now, same), as_today(then, same)
    for part in sorted(now.keys() | then.keys()):
        if now.get(part) != then.get(part):
            yield _change(part, part in now, part in then)


def _change(part: str, now: bool, then: bool) -> str:
    if part == "measure":
        return "the way of measuring changed"
    name = (
        part.rsplit("#", 1)[-1]
        if "#" in part
        else part.rsplit("/", 1)[-1].replace("_", " " if "." not in part else "_")
    )
    if now and then:
        return f"{name} changed"
    return f"{name} is new" if now else f"{name} is gone"


def _check_versions(state: Freshness, made: Environment | None, newest: Versions) -> Freshness:
    if state.state is not FreshnessState.FRESH or made is None:
        return state
    older = [
        f"{name} {getattr(made, name)}, the newest record has {version}"
        for name, version in newest.items()
        if _version(getattr(made, name)) < _version(version)
    ]
    return Freshness(FreshnessState.OUTDATED, tuple(older)) if older else state


def _version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version without the build behind `+`: (2, 11, 0) for `2.11.0+cu130`."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("+")[0]))
