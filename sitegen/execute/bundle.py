"""Jobs ↔ a zip for a GPU machine without a network, and the results that come back ↔ another.

`write_bundle` on the author's machine, `run_bundle` on the GPU machine, `read_results` on the author's again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sitegen
from sitegen.diagnostics import Diagnostic, Span
from sitegen.execute import archive
from sitegen.execute.archive import BadArchive
from sitegen.execute.progress import Report
from sitegen.execute.targets import Target, local_target
from sitegen.model.job import JOB_SCHEMA, Job, JobResult
from sitegen.model.plain import from_plain, to_plain
from sitegen.results.records import timed_unchecked

SAVE_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class Results:
    """What a run brought home."""

    run: str
    """Its start in UTC: `2026-11-21T06:10:05Z`."""
    commit: str
    results: tuple[JobResult, ...]
    complete: bool = True
    """False when the run was cut short: the jobs that are missing stay as they were."""


def write_bundle(jobs: Sequence[Job], commit: str, path: Path) -> None:
    """One zip with every job; the same jobs and commit give the same bytes."""
    archive.write(path, _head("jobs", commit), _numbered("jobs", [to_plain(job) for job in jobs]))


def run_bundle(path: Path, out: Path, target: Target | None = None, progress: Report = lambda _: None) -> Results:
    """Executes a bundle's jobs here (or on `target`) and writes the results to `out`, every few seconds what there is
    so far, so that a run which is cut short is not lost.  Raises BadArchive, OSError.
    """
    bundle = archive.read(path, "jobs")
    specs = list(bundle.entries.values())
    commit = str(bundle.head.get("commit", ""))
    return run_specs(specs, commit, target or local_target(), progress, lambda results: write_results(results, out))


def run_specs(
    specs: Sequence[Mapping[str, Any]],
    commit: str,
    target: Target,
    progress: Report,
    save: Callable[[Results], object],
) -> Results:
    """Executes jobs (plain JSON); `save` gets what there is every few seconds, and at the end, whatever happens."""
    if target.is_here:
        from sitegen.execute.local import execute
    else:
        from sitegen.execute.cluster import execute  # Dask is installed only where jobs are sent elsewhere

    started = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    done: list[JobResult] = []
    saved = time.monotonic()
    try:
        for result in execute(specs, target, progress):
            done.append(from_plain(JobResult, result))
            if time.monotonic() - saved > SAVE_EVERY_S:
                save(Results(started, commit, tuple(done), complete=False))
                saved = time.monotonic()
    finally:
        results = Results(started, commit, _in_order(done, specs), complete=len(done) == len(specs))
        save(results)
    return results


def write_results(results: Results, path: Path) -> None:
    head = {**_head("results", results.commit), "run": results.run, "complete": results.complete}
    archive.write(path, head, _numbered("results", [to_plain(result) for result in results.results]))


def read_results(path: Path) -> tuple[Results | None, list[Diagnostic]]:
    """The results of a run that was made on a GPU, or what is wrong with the file.  Raises OSError."""
    try:
        found = archive.read(path, "results")
    except BadArchive as error:
        hint = "it takes what `sitegen run --bundle BUNDLE -o RESULT` wrote, as it was written"
        return None, [Diagnostic("SG401", f"{error}", Span(path.name), hint)]
    try:
        return _results(found), []
    except BadArchive as error:
        return None, [Diagnostic("SG401", f"{error}", Span(path.name))]


def _results(found: archive.Archive) -> Results:
    results = tuple(_result(name, data) for name, data in found.entries.items())
    run, commit = found.head.get("run"), found.head.get("commit")
    if not isinstance(run, str) or not isinstance(commit, str) or not _is_time(run):
        raise BadArchive("its manifest does not say when it ran and from which commit")
    if not any(result.environment for result in results):
        raise BadArchive("no GPU was there: results made without one are never stored")
    return Results(run, commit, results, bool(found.head.get("complete")))


def _result(name: str, data: Any) -> JobResult:
    try:
        result = from_plain(JobResult, data)
    except (TypeError, ValueError) as error:
        raise BadArchive(f"`{name}` is no result of a job: {error}") from error
    if result.schema != JOB_SCHEMA:
        raise BadArchive(f"`{name}` has schema {result.schema}; this sitegen reads {JOB_SCHEMA}")
    if unchecked := [e.name for e in result.evaluations if timed_unchecked(e)]:
        raise BadArchive(f"`{name}`: {unchecked[0]} has a time and no check")
    return result


def _is_time(text: str) -> bool:
    try:
        dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
    except ValueError:
        return False
    return True


def _in_order(done: Sequence[JobResult], specs: Sequence[Mapping[str, Any]]) -> tuple[JobResult, ...]:
    """As the jobs were planned, however they finished."""
    order = {spec["id"]: index for index, spec in enumerate(specs)}
    return tuple(sorted(done, key=lambda result: order[result.id]))


def _head(kind: str, commit: str) -> dict[str, Any]:
    return {"kind": kind, "commit": commit, "sitegen": sitegen.__version__}


def _numbered(folder: str, values: Sequence[Any]) -> dict[str, Any]:
    return {f"{folder}/{number:04d}.json": value for number, value in enumerate(values, 1)}
