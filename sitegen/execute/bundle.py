"""Jobs ↔ a zip for a GPU machine without a network, and the results of a run ↔ another zip.

`write_bundle` runs on the author's machine, `run_bundle` on the GPU machine, and `read_results` on the author's again.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import sitegen
from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.execute import archive
from sitegen.execute.archive import BadArchive
from sitegen.execute.needs import unmet_need
from sitegen.execute.progress import Report
from sitegen.execute.targets import Target, local_target
from sitegen.model.gpu import gpu_id
from sitegen.model.job import (
    JOB_SCHEMA,
    CeilingsJob,
    InspectJob,
    Job,
    JobResult,
    KernelJob,
    NotebookJob,
    RejectJob,
    SweepJob,
)
from sitegen.model.kernel import Kernel
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.sweep_points import evaluation_at
from sitegen.results.field_rules import is_run_id
from sitegen.results.records import timed_unchecked
from sitegen.results.returned_results import result_id

_KINDS: Mapping[str, type[Any]] = {
    "kernel": KernelJob,
    "reject": RejectJob,
    "sweep": SweepJob,
    "ceilings": CeilingsJob,
    "inspect": InspectJob,
    "notebook": NotebookJob,
}
_FILE_NAME = re.compile(r"[^\W_][\w.+~-]*")
"""Letters of any language: the slug of a post may have them."""
SAVE_EVERY_S = 5.0


OTHER_GPU = (
    "{out} holds results of {before} from a run that was cut short, and this machine has {now}: "
    "run the rest on {before}, or name another file by -o"
)


class OtherGpuError(ValueError):
    """Results of a run that was cut short are of another model of GPU, so that the rest cannot join them."""


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a run."""

    run: str
    """Start of the run in UTC: `2026-11-21T06:10:05Z`."""
    commit: str
    results: tuple[JobResult, ...]
    complete: bool = True
    """False when the run was cut short; records of the missing jobs stay as they were."""
    answers: BundleId | None = None
    """The bundle whose jobs these are; None for a run without one."""


@dataclass(frozen=True, slots=True)
class BundleId:
    """Identity of a bundle."""

    nonce: str
    """A random number in its manifest."""
    sha256: str
    """SHA-256 of the whole file."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read."""

    id: BundleId
    commit: str
    jobs: tuple[Job, ...]
    specs: tuple[Mapping[str, Any], ...]
    """The same jobs as plain JSON."""


def write_bundle(jobs: Sequence[Job], commit: str, path: Path, nonce: str = "") -> None:
    """Write one zip with every job; the same jobs, commit and nonce give the same bytes.  Raises OSError."""
    head = {**_head("jobs", commit), "nonce": nonce}
    archive.write(path, head, _numbered("jobs", [to_plain(job) for job in jobs]))


def read_bundle(path: Path) -> Bundle:
    """Return the jobs of a bundle.

    Raises BadArchive, also for a job whose names could lead out of a folder, and OSError.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    packed = archive.read(path, "jobs")
    specs = tuple(packed.entries.values())
    jobs = tuple(_job(name, spec) for name, spec in packed.entries.items())
    head = packed.head
    return Bundle(BundleId(str(head.get("nonce", "")), digest), str(head.get("commit", "")), jobs, specs)


def _job(name: str, spec: Any) -> Job:
    try:
        job: Job = from_plain(_KINDS[spec["kind"]], spec)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise BadArchive(f"`{name}` is no job ({str(error)[:200]})") from error
    if wrong := next(odd_names(job), ""):
        raise BadArchive(f"`{name}`: {wrong}")
    return job


def odd_names(job: Job) -> Iterator[str]:
    """Yield a sentence for each name of a job that is no file name, and each path that leads out of a folder."""
    if isinstance(job, CeilingsJob):
        return
    names, files = ([job.post], []) if isinstance(job, NotebookJob) else _names_of(job.kernel)
    for one in (name for name in names if not _FILE_NAME.fullmatch(name)):
        yield f"{one[:100]!r} is not a name of a kernel, an implementation or a post"
    for path in (*job.sources, *files):
        try:
            inside.checked(path)
        except OSError:
            yield f"the source {path[:100]!r} leads out of its folder"


def _names_of(kernel: Kernel) -> tuple[list[str], list[str]]:
    """Return the names that become file names on a GPU machine, and the files of the implementations."""
    wrong = (variant.implementation for variant in kernel.wrong)
    implementations = (*kernel.implementations, *kernel.baseline_files, *wrong)
    files = [one.file for one in implementations if not one.source]
    return [kernel.name, *(one.name for one in implementations)], files


def run_bundle(path: Path, out: Path, target: Target | None = None, progress: Report = lambda _: None) -> Results:
    """Run the jobs of a bundle here, or on `target`, and write the results to `out`.

    The results so far are written every few seconds, so that a run which is cut short is not lost: when `out` holds
    such results of the same bundle, only the rest runs.  Raises BadArchive, OtherGpuError and OSError.
    """
    bundle, target = read_bundle(path), target or local_target()
    save = partial(_write_answer, out, bundle.id)
    earlier = unfinished_results(bundle.id, out, target)
    return run_specs(bundle.specs, bundle.commit, target, progress, save, earlier)


def unfinished_results(bundle: BundleId, out: Path, target: Target) -> Results | None:
    """Return the results in `out` of a run of this bundle that was cut short; None where there are none.

    Raises OtherGpuError when they are of another model than the GPUs of the target.
    """
    found = read_results(out)[0] if out.exists() else None
    if not found or found.answers != bundle or found.complete:
        return None
    models = {gpu_id(result.environment.gpu) for result in found.results if result.environment}
    if others := sorted(models - {target.gpu}):
        raise OtherGpuError(OTHER_GPU.format(out=out, before=", ".join(others), now=target.gpu or "no GPU"))
    return found


def _write_answer(out: Path, bundle: BundleId, results: Results) -> None:
    write_results(replace(results, answers=bundle), out)


def run_specs(
    specs: Sequence[Mapping[str, Any]],
    commit: str,
    target: Target,
    progress: Report,
    save: Callable[[Results], object],
    earlier: Results | None = None,
) -> Results:
    """Run jobs, given as plain JSON, on a target; each of its GPUs measures its own ceilings.

    `save` gets the results so far every few seconds, and once more at the end, also when an exception ends the run.
    Jobs with a result in `earlier`, the part of the same run that was saved before, do not run again.
    """
    started = earlier.run if earlier else dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = [result for result in earlier.results if not result.error] if earlier else list[JobResult]()
    finished = {result.id for result in done if result.kind != "ceilings"}
    rest = [spec for spec in specs if spec["id"] not in finished]
    saved = time.monotonic()
    try:
        for result in _executed(rest, target, progress):
            done += _new_results(done, result)
            if time.monotonic() - saved > SAVE_EVERY_S:
                save(Results(started, commit, tuple(done), complete=False))
                saved = time.monotonic()
    finally:
        results = Results(started, commit, _in_order(done, specs), complete=_are_all_done(done, specs))
        save(results)
    return results


def _new_results(done: Sequence[JobResult], returned: Mapping[str, Any]) -> list[JobResult]:
    """Return the results that a worker returned, without ceilings of a GPU that are in `done`.

    They are there when a worker was lost and another one took its place.
    """
    results = [from_plain(JobResult, one) for one in returned.get("results", [returned])]
    known = {result_id(one) for one in done}
    return [one for one in results if one.kind != "ceilings" or result_id(one) not in known]


def _are_all_done(done: Sequence[JobResult], specs: Sequence[Mapping[str, Any]]) -> bool:
    return {spec["id"] for spec in specs if spec["kind"] != "ceilings"} <= {result.id for result in done}


def _executed(specs: Sequence[Mapping[str, Any]], target: Target, progress: Report) -> Iterator[dict[str, Any]]:
    """Yield what the workers return for every job, in the order in which they finish.

    A job that needs more memory than any GPU has is a failure, and runs nowhere.
    """
    from sitegen.execute.measure_process import failure  # psutil is installed only where jobs run
    from sitegen.execute.work import run_with_ceilings, with_ceilings

    if target.is_here:
        from sitegen.execute.local import execute
    else:
        from sitegen.execute.cluster import execute  # Dask is installed only where jobs are sent elsewhere
    ceilings = [spec for spec in specs if spec["kind"] == "ceilings"]
    run = secrets.token_hex(8)  # workers of a Dask scheduler may serve several runs at once
    unmet = {spec["id"]: why for spec in specs if (why := unmet_need(spec, target.devices))}
    yield from (failure(spec, unmet[spec["id"]]) for spec in specs if spec["id"] in unmet)
    able = [spec for spec in specs if spec["kind"] != "ceilings" and spec["id"] not in unmet]
    jobs = [with_ceilings(spec, ceilings, run) for spec in able]
    yield from execute(jobs, target, progress, run_with_ceilings)


def write_results(results: Results, path: Path) -> None:
    """Write the results of a run as one zip.  Raises OSError."""
    head = {**_head("results", results.commit), "run": results.run, "complete": results.complete}
    if results.answers:
        head["bundle"] = to_plain(results.answers)
    archive.write(path, head, _numbered("results", [to_plain(result) for result in results.results]))


def read_results(path: Path) -> tuple[Results | None, list[Diagnostic]]:
    """Return the results of a run on a GPU, or what is wrong with the file.  Raises OSError."""
    try:
        packed = archive.read(path, "results")
    except BadArchive as error:
        hint = "give the file that `sitegen run --bundle BUNDLE -o RESULT` wrote, unchanged"
        return None, [Diagnostic("SG401", f"{error}", Span(path.name), hint)]
    try:
        return _results(packed), []
    except BadArchive as error:
        return None, [Diagnostic("SG401", f"{error}", Span(path.name))]


def _results(packed: archive.Archive) -> Results:
    results = tuple(_result(name, data) for name, data in packed.entries.items())
    run, commit = packed.head.get("run"), packed.head.get("commit")
    if not isinstance(run, str) or not isinstance(commit, str) or not is_run_id(run):
        raise BadArchive("its manifest does not say when it ran and from which commit")
    if not any(result.environment for result in results):
        raise BadArchive("no GPU was there: run the bundle on a machine with one; results without it are never stored")
    bundle = _bundle_id(packed.head.get("bundle"))
    return Results(run, commit, results, packed.head.get("complete") is True, bundle)


def _bundle_id(data: Any) -> BundleId | None:
    try:
        return from_plain(BundleId, data)
    except (TypeError, ValueError):
        return None


def _result(name: str, data: Any) -> JobResult:
    try:
        result = from_plain(JobResult, data)
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        said = str(error)[:300] if isinstance(error, ValueError) else "its fields are not those of a result"
        raise BadArchive(f"`{name}` is no result of a job: {said}") from error
    if result.schema != JOB_SCHEMA:
        raise BadArchive(f"`{name}` has schema {result.schema}; this sitegen reads {JOB_SCHEMA}")
    points = [evaluation_at(sweep, point) for sweep in result.sweeps for point in sweep.points]
    if unchecked := [e.name for e in (*result.evaluations, *points) if timed_unchecked(e)]:
        raise BadArchive(f"`{name}`: {unchecked[0]} has a time and no check")
    return result


def _in_order(done: Sequence[JobResult], specs: Sequence[Mapping[str, Any]]) -> tuple[JobResult, ...]:
    """Return the results in the order of the jobs."""
    order = {spec["id"]: index for index, spec in enumerate(specs)}
    return tuple(sorted(done, key=lambda result: order[result.id]))


def _head(kind: str, commit: str) -> dict[str, Any]:
    return {"kind": kind, "commit": commit, "sitegen": sitegen.__version__}


def _numbered(folder: str, values: Sequence[Any]) -> dict[str, Any]:
    return {f"{folder}/{number:04d}.json": value for number, value in enumerate(values, 1)}
