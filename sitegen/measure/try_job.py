"""A `TryJob` → rough figures of its candidates.  This is the parent process, which never touches CUDA.

With a GPU one process (try_process.py) checks and times all candidates.  When a candidate ends that process, another
one goes on with the candidates after it; the fork server starts both.  A process that has answered everything is not
waited for: it ends its CUDA context while the figures are shown.  Without a GPU the interpreter and the
cross-compiler say what they can, as in a run.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sitegen.measure.artefacts import digest_of_log, log_artefact, unpack
from sitegen.measure.call_profile import profile
from sitegen.measure.counters import count
from sitegen.measure.jobs import run_kernel_job
from sitegen.measure.process import GRACE_S, ForkedProcess, end_group
from sitegen.measure.protocol import END, Channel, ChannelClosed, DeadlinePassed, Message
from sitegen.measure.sources import write_sources
from sitegen.measure.workspace import Workspace
from sitegen.model.failure_log import explanation_in
from sitegen.model.job import JOB_SCHEMA, InspectJob, JobResult, SweepJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Environment, Evaluation, Role
from sitegen.model.try_job import TryJob

CANDIDATE_S = 120.0
"""Deadline in seconds of each candidate that a process has; the process itself has tighter ones for a launch."""
_LOOK_S = 1.0
"""Seconds between two looks whether a process has ended although its pipe has not."""
ProcessRunner = Callable[[Sequence[str]], tuple[list[Message], str]]
"""Function that starts a process with candidates, and returns the lines that it wrote and how it ended."""


def run_try_job(job: TryJob, workspace: Workspace) -> JobResult:
    """Return an evaluation for each candidate; with a GPU also its time, and the ratios to the baseline and a copy."""
    folder = workspace.folder
    job_file = folder / "kernel-job.json"
    job_file.write_text(json.dumps(to_plain(job.kernel_job())), encoding="utf-8")
    if not workspace.gpu:
        checked = run_kernel_job(job.kernel_job(), replace(workspace, job_file=job_file))
        ours = tuple(e for e in checked.evaluations if e.role is Role.IMPLEMENTATION)
        return _explained(replace(checked, kind=job.kind, evaluations=ours))
    write_sources(folder / "site", job.sources)
    names = [one.name for one in job.kernel.implementations]
    result = evaluate_in_processes(job, names, lambda left: _process(job_file, workspace, left))
    return _explained(_with_counters(job, result, workspace) if job.ncu else result)


def _explained(result: JobResult) -> JobResult:
    """Return the result with the beginning of each log in the place of the sentence: none of it is stored."""
    logs = {name: unpack(packed).decode() for name, packed in result.artefacts.items() if name.endswith(".log")}
    found = [(one, logs.get(f"{one.log}.log", "")) for one in result.evaluations]
    explained = tuple(replace(one, message=explanation_in(log) or one.message, log="") for one, log in found)
    return replace(result, evaluations=explained, artefacts={})


def deadline_s(names: Sequence[str]) -> float:
    """Return the deadline in seconds of a process that has these candidates."""
    return CANDIDATE_S * (1 + len(names))


def evaluate_in_processes(job: TryJob | SweepJob, names: Sequence[str], process: ProcessRunner) -> JobResult:
    """Return the evaluations from as many processes as it takes: one that ends early costs only its last candidate."""
    evaluations: dict[str, Evaluation] = {}
    environment: Environment | None = None
    warnings: list[str] = []
    logs: dict[str, str] = {}
    while left := [name for name in names if name not in evaluations]:
        lines, why = process(left)
        for line in lines:
            if "evaluation" in line:
                evaluation = from_plain(Evaluation, line["evaluation"])
                evaluations[evaluation.name] = replace(evaluation, log=digest_of_log(line["log"]))
                logs |= log_artefact(line["log"])
            elif "environment" in line:
                environment = from_plain(Environment, line["environment"])
            elif "warning" in line:
                warnings.append(line["warning"])
        begun = [line["begin"] for line in lines if "begin" in line]
        if not begun:
            return JobResult(JOB_SCHEMA, job.id, job.kind, environment, error=why)
        if begun[-1] not in evaluations:
            evaluations[begun[-1]] = failed(job, begun[-1], Status.RUNTIME_ERROR, why)
    found = tuple(evaluations[name] for name in names)
    said = tuple(dict.fromkeys(warnings))
    return JobResult(JOB_SCHEMA, job.id, job.kind, environment, found, artefacts=logs, warnings=said)


def failed(job: TryJob | SweepJob, name: str, status: Status, message: str) -> Evaluation:
    """Return the evaluation of a candidate that has no result."""
    return Evaluation(
        Role.IMPLEMENTATION,
        name,
        job.workload.name,
        job.dtype,
        run="",
        status=status,
        params=job.params,
        message=message,
    )


def _process(job_file: Path, workspace: Workspace, names: Sequence[str]) -> tuple[list[Message], str]:
    """Return the lines that one process of a `TryJob` wrote, and how it ended."""
    arguments = [str(job_file), str(workspace.folder / "site"), *names]
    return lines_of_process("try_process", arguments, workspace, deadline_s(names))


def lines_of_process(
    program: str, arguments: Sequence[str], workspace: Workspace, seconds: float
) -> tuple[list[Message], str]:
    """Return the lines that one process of a program of fork_server.py wrote, and how it ended.

    One that wrote END still ends when this returns, and how it does is not said.
    """
    log = workspace.folder / "tried.log"
    reads, writes = os.pipe()
    channel = Channel(reads, reads)
    try:
        process = workspace.forks.fork(program, arguments, log, (writes,))
    finally:
        os.close(writes)  # so that the pipe ends with the process
    lines, why = _answers(channel, process, seconds)
    channel.close()
    return (lines, "") if lines and lines[-1] == END else (lines, _ended(process, log, why))


def _ended(process: ForkedProcess, log: Path, why: str) -> str:
    """End the process, and return how it ended, with its last words; it may print these after the end of the pipe."""
    if not why:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    end_group(process)
    words = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    return "; ".join([why or f"the process ended with {process.returncode}", *words])


def _answers(channel: Channel, process: ForkedProcess, seconds: float) -> tuple[list[Message], str]:
    """Return what the process sends up to END, or until it has ended, and why nobody waits longer."""
    lines: list[Message] = []
    deadline = time.monotonic() + seconds
    while END not in lines[-1:]:
        if time.monotonic() > deadline:
            return lines, f"the process took more than {seconds:.0f} s"
        over = process.poll() is not None
        try:
            lines.append(channel.receive(0.0 if over else _LOOK_S))
        except ChannelClosed:
            break
        except DeadlinePassed:
            if over:
                break
    return lines, ""


def _with_counters(job: TryJob, result: JobResult, workspace: Workspace) -> JobResult:
    """Return the result with the DRAM bytes and the profiles of the candidates that passed, read by ncu."""
    passed = {e.name for e in result.evaluations if e.status is Status.PASSED}
    kernel = replace(
        job.kernel,
        implementations=tuple(one for one in job.kernel.implementations if one.name in passed),
        workloads=(job.workload,),
        dtypes=(job.dtype,),
        baselines=(),
    )
    inspect = InspectJob(job.id, kernel, job.sources, (job.params,))
    file = workspace.folder / "inspect-job.json"
    file.write_text(json.dumps(to_plain(inspect)), encoding="utf-8")
    inspected = replace(workspace, job_file=file)
    counted, warnings = count(inspect, inspected)
    profiled, more = profile(inspect, inspected) if counted else ((), ())
    return replace(result, counted=counted, profiled=profiled, warnings=(*result.warnings, *warnings, *more))
