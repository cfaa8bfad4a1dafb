"""Progress of a run: one message for each start and for the end of each job, and for the rounds between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sitegen.model.job import JobResult
from sitegen.model.plain import from_plain


@dataclass(frozen=True, slots=True)
class Progress:
    """State of one job, and of the run."""

    job: str
    state: str
    """`started`, `measuring`, `finished`, or `failed` when the job or something that it checked failed."""
    done: int
    """Jobs that have ended."""
    total: int
    seconds: float = 0.0
    """Wall time of the job; 0 when it starts."""
    message: str = ""
    """Why the job failed as a whole; empty otherwise."""
    place: str = ""
    """The host or the GPU on which it runs; empty when it ends."""
    gpu: str = ""
    """The model of the GPU, `nvidia-h200`; empty without one, and when the job ends."""
    rounds: int = 0
    """The rounds that the job has begun; 0 before the first one, and when the job ends."""
    results: tuple[JobResult, ...] = ()
    """The results that the job had when it ended, as far as they are judged by then."""


Report = Callable[[Progress], None]


def end_of_job(job: str, reply: Mapping[str, Any], done: int, total: int, seconds: float) -> Progress:
    """Return the progress at the end of a job from the reply of its worker."""
    results = tuple(_judged(from_plain(JobResult, one)) for one in reply.get("results", ()))
    error = reply.get("error", "")
    failed = error or any(result.undone or result.incorrect for result in results)
    return Progress(job, "failed" if failed else "finished", done, total, seconds, error, results=results)


def _judged(result: JobResult) -> JobResult:
    """Return the result without what is no failure on a GPU, or not yet.

    The tools look at `wrong/` variants later, and a point of a sweep that cannot run is a result.
    """
    return replace(result, rejections=(), sweeps=()) if result.environment else result
