"""Jobs of `sitegen try` → their results, on this machine; and the same jobs ↔ a zip for a machine without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import sitegen
from sitegen.execute import archive
from sitegen.execute.archive import BadArchive
from sitegen.execute.bundle import odd_names
from sitegen.execute.work import run_job
from sitegen.model.job import JobResult
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.try_job import TryJob

KIND = "try"
"""The kind of archive, which neither `run --bundle` nor `accept` takes."""


def run_try_job(job: TryJob, prepare_next: bool = False) -> JobResult:
    """Return the result of a job, from a process of its own; `error` says why a job failed as a whole.

    With `prepare_next` another process waits for the next job afterwards.  The figures are shown while the processes of
    the job end: on an H100 a process needs 0.08 s to end its CUDA context alone.  After Ctrl-C, too, they end by
    themselves.
    """
    return from_plain(JobResult, run_job(to_plain(job), prepare_next, early=True))


def write_try_bundle(jobs: Sequence[TryJob], path: Path) -> None:
    """Write one zip with every job and its sources.  Raises OSError."""
    entries = {f"jobs/{number:04d}.json": to_plain(job) for number, job in enumerate(jobs, 1)}
    archive.write(path, {"kind": KIND, "sitegen": sitegen.__version__}, entries)


def read_try_bundle(path: Path) -> tuple[TryJob, ...]:
    """Return the jobs of a bundle.  Raises BadArchive, also for a path that leads out of a folder, and OSError."""
    return tuple(_job(name, spec) for name, spec in archive.read(path, KIND).entries.items())


def _job(name: str, spec: object) -> TryJob:
    try:
        job: TryJob = from_plain(TryJob, spec)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise BadArchive(f"`{name}` is no job of `sitegen try` ({str(error)[:200]})") from error
    if wrong := next(odd_names(job.kernel_job()), ""):
        raise BadArchive(f"`{name}`: {wrong}")
    return job
