"""What the site asks for beside what is recorded → for each evaluation and cell whether it is fresh, and if not, why.

The reasons are data with a sentence: `stale: fused.py changed`, `outdated: triton 3.6.0, the newest record has 3.7.0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitegen.model.document import Cell
from sitegen.model.job import Key
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload
from sitegen.model.record import CellRecord, Environment, Evaluation, Record, Rejection, Role
from sitegen.results.keys import cell_keys, implementation_key, wrong_key
from sitegen.results.reach import Files
from sitegen.results.records import EvaluationId, Records, cell_name, evaluation_id, swept

COMPARED = ("driver", "torch", "triton")
Versions = Mapping[str, str]
"""By name (`triton`), the newest version that a record of the GPU was made with."""


class State(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    """Made by other code than today's."""
    MISSING = "missing"
    """Never made, or every attempt was lost."""
    OUTDATED = "outdated"
    """Today's code, but another record of the same GPU was made with a newer driver, torch or Triton."""


@dataclass(frozen=True, slots=True)
class Freshness:
    state: State
    reasons: tuple[str, ...] = ()
    """Short: `fused.py changed`."""

    @property
    def sentence(self) -> str:
        """`stale: fused.py changed`; `fresh`; `missing`."""
        return f"{self.state}: {', '.join(self.reasons)}" if self.reasons else str(self.state)


@dataclass(frozen=True, slots=True)
class Wanted:
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
        return (self.role, self.name, self.workload.name, self.dtype, tuple(sorted(self.params.items())))

    @property
    def title(self) -> str:
        """`softmax/fused@8192x8192:float32`."""
        return f"{self.kernel.name}/{self.name}@{cell_name(self.workload.name, self.dtype, self.params, self.kernel)}"


def wanted(kernel: Kernel, files: Files) -> Iterator[Wanted]:
    """Every implementation and baseline × workload × dtype × params of a kernel, with today's keys."""
    for workload in kernel.workloads:
        for dtype in kernel.dtypes:
            for params in swept(kernel):
                for one in offered(kernel, dtype):
                    key = implementation_key(kernel, one, workload, dtype, params, files)
                    yield Wanted(kernel, Role.IMPLEMENTATION, one.name, workload, dtype, params, key)
                for name in kernel.baselines:
                    yield Wanted(kernel, Role.BASELINE, name, workload, dtype, params, None)


def offered(kernel: Kernel, dtype: str) -> tuple[Implementation, ...]:
    """The implementations of a kernel that take this dtype."""
    return tuple(one for one in kernel.implementations if not one.dtypes or dtype in one.dtypes)


def of_kernel(kernel: Kernel, files: Files, record: Record | None, newest: Versions) -> dict[str, Freshness]:
    """By title (`softmax/fused@8192x8192:float32`, `softmax/wrong/no_max`), in the order of kernel.yaml."""
    found = {evaluation_id(e): e for e in record.evaluations} if record else {}
    made = {run.id: run.environment for run in record.runs} if record else {}
    rejected = {r.name: r for r in record.rejections} if record else {}
    states = {one.title: _of_evaluation(one, found.get(one.id), made, newest) for one in wanted(kernel, files)}
    for wrong in kernel.wrong:
        name = wrong.implementation.name
        states[f"{kernel.name}/wrong/{name}"] = of_rejection(kernel, wrong.implementation, files, rejected.get(name))
    return states


def of_rejection(kernel: Kernel, wrong: Implementation, files: Files, found: Rejection | None) -> Freshness:
    if found is None or found.status is Status.NOT_RUN:
        return Freshness(State.MISSING)
    return _by_key(wrong_key(kernel, wrong, files), found.key, found.key_parts)


def of_cells(
    post: str, cells: Sequence[Cell], files: Files, records: Mapping[str, CellRecord], newest: Versions
) -> dict[str, Freshness]:
    """By label; `post` is the path of the post's file, `records` are those of one GPU."""
    states = {}
    for cell, key in zip(cells, cell_keys(post, cells, files), strict=True):
        found = records.get(cell.label)
        if found is None or found.status is Status.NOT_RUN:
            states[cell.label] = Freshness(State.MISSING)
        else:
            by_key = _by_key(key, found.key, found.key_parts)
            states[cell.label] = _current(by_key, found.run.environment, newest)
    return states


def newest_versions(records: Records, gpu: str) -> Versions:
    """The newest driver, torch and Triton that any record of the GPU was made with; empty without records."""
    seen = [{name: getattr(e, name) for name in COMPARED} for e in records.environments(gpu)]
    return {name: max((one[name] for one in seen), key=_version) for name in COMPARED if seen}


def _of_evaluation(
    one: Wanted, found: Evaluation | None, made: Mapping[str, Environment], newest: Versions
) -> Freshness:
    if found is None:
        return Freshness(State.MISSING)
    if found.status is Status.NOT_RUN:
        return Freshness(State.MISSING, (found.message.splitlines()[0],) if found.message else ())
    by_key = _by_key(one.key, found.key, found.key_parts) if one.key else Freshness(State.FRESH)
    return _current(by_key, made.get(found.run), newest)


def _by_key(key: Key, digest: str, parts: Mapping[str, str]) -> Freshness:
    if key.digest == digest:
        return Freshness(State.FRESH)
    return Freshness(State.STALE, tuple(_changes(key.parts, parts)) or ("its key changed",))


def _changes(now: Mapping[str, str], then: Mapping[str, str]) -> Iterator[str]:
    """In words: what the code reaches now and did not then, what it no longer reaches, what differs."""
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


def _current(state: Freshness, made: Environment | None, newest: Versions) -> Freshness:
    if state.state is not State.FRESH or made is None:
        return state
    older = [
        f"{name} {getattr(made, name)}, the newest record has {version}"
        for name, version in newest.items()
        if _version(getattr(made, name)) < _version(version)
    ]
    return Freshness(State.OUTDATED, tuple(older)) if older else state


def _version(text: str) -> tuple[int, ...]:
    """`2.11.0+cu130` is (2, 11, 0): what stands after `+` is the build, not the version."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("+")[0]))
