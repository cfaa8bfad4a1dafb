"""Run a job, given as plain JSON, in a worker on the machine with the GPU, and return its result as plain JSON.

Each worker has one GPU, whose ceilings it measures before its first job of a run: an evaluation is judged by the
ceilings of the GPU that timed it.  The code under test never runs in this process, because a fault of the GPU would
kill the worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sitegen.execute.measure_process import MeasureProcess, failure

BASE_S, EACH_S = 300.0, 180.0
"""Deadline of a job in seconds: a base, and more for each implementation, baseline and variant.  measure/ has its own,
tighter deadlines for compiling, launching and timing."""
_measured_runs: set[str] = set()
"""Runs for which this worker has measured the ceilings of its GPU."""
_hung: dict[tuple[str, str, str], str] = {}
"""The workload and dtype at which an implementation hung without a GPU, by run, kernel and name."""
_ready: list[MeasureProcess] = []
"""The process that waits for the next job of this worker; empty before the first job."""
_left: list[MeasureProcess] = []
"""The process of the last job, whose own processes may still end; empty when that job was waited for."""


def with_ceilings(spec: Mapping[str, Any], ceilings: Sequence[Mapping[str, Any]], run: str) -> dict[str, Any]:
    """Return a job for `run_with_ceilings`, with the jobs that measure ceilings; no other run has the name `run`."""
    return {"id": spec["id"], "kind": spec["kind"], "job": spec, "ceilings": ceilings, "run": run}


def run_with_ceilings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a job in `results`, behind the ceilings of this GPU when it is the worker's first job."""
    first = [] if spec["run"] in _measured_runs else spec["ceilings"]
    _measured_runs.add(spec["run"])
    results = [run_job(one, prepare_next=True) for one in (*first, _without_hung(spec["job"], spec["run"]))]
    _note_hung(spec["job"], results[-1], spec["run"])
    return {**failure(spec, results[-1].get("error", "")), "results": results}


def run_job(spec: Mapping[str, Any], prepare_next: bool = False, early: bool = False) -> dict[str, Any]:
    """Return a JobResult as plain JSON.  A job that fails as a whole says why in `error`, and nothing is raised.

    With `prepare_next` another process is started, which imports torch meanwhile and waits for the next job.  With
    `early` the processes of this job may still end when the result is returned; the next job waits for that.
    """
    if spec["kind"] == "notebook":
        from sitegen.execute.notebook import run_notebook_spec  # Jupyter is needed only for posts with cells

        return run_notebook_spec(spec)
    with _process_of_job(early) as process:
        result = process.start_job(spec, deadline_s(spec), early)
        if prepare_next:
            prepare_job()
        return result()


@contextmanager
def _process_of_job(early: bool) -> Iterator[MeasureProcess]:
    """Yield a process once that of the job before has ended.  End it after the block, or leave it with `early`."""
    while _left:
        _left.pop().end()
    process = _ready_process()
    try:
        yield process
    finally:
        if early:
            process.leave()
            _left.append(process)
        else:
            process.end()


def prepare_job() -> None:
    """Start a process that imports torch and waits for the next job."""
    _ready.append(MeasureProcess())
    _ready[-1].start_ahead()


@contextmanager
def prepared_jobs() -> Iterator[None]:
    """Let a process wait for the first job of the block, and end one that still waits afterwards."""
    prepare_job()
    try:
        yield
    finally:
        while _ready:
            _ready.pop().end()


def _without_hung(job: Mapping[str, Any], run: str) -> Mapping[str, Any]:
    """Return the job, which names the implementations that hung in an earlier job of the run."""
    if job["kind"] != "kernel":
        return job
    kernel = job["kernel"]["name"]
    return {**job, "hung": {name: where for (of, k, name), where in _hung.items() if (of, k) == (run, kernel)}}


def _note_hung(job: Mapping[str, Any], result: Mapping[str, Any], run: str) -> None:
    """Note the implementations that hung under the interpreter; a GPU has a deadline for each launch."""
    for one in result.get("evaluations", ()) if result.get("environment") is None else ():
        if (one["role"], one["status"]) == ("implementation", "timeout"):
            _hung.setdefault((run, job["kernel"]["name"], one["name"]), f"{one['workload']}:{one['dtype']}")


def deadline_s(spec: Mapping[str, Any]) -> float:
    """Return the deadline of a job in seconds."""
    kernel = spec.get("kernel", {})
    several = [*kernel.get("implementations", ()), *kernel.get("baselines", ()), *kernel.get("wrong", ())]
    return BASE_S + EACH_S * len(several)


def _ready_process() -> MeasureProcess:
    """Return the process that waits for this job, or a new one where there is none or it has ended."""
    while _ready:
        process = _ready.pop()
        if process.lives:
            return process
        process.end()
    return MeasureProcess()
