"""One job as JSON → its result as JSON: `python -m sitegen.measure [--wait] JOB.json RESULT.json`.

With `--wait` the process makes itself ready and waits until JOB.json exists: it must appear whole, by a rename.
RESULT.json appears before the processes of the job have ended.
Exit 0 when a result was written, 2 for wrong usage.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from sitegen.measure.inspect_job import run_inspect_job
from sitegen.measure.jobs import run_ceilings_job, run_kernel_job, run_reject_job
from sitegen.measure.process import kill_all
from sitegen.measure.sweep_job import run_sweep_job
from sitegen.measure.try_job import run_try_job
from sitegen.measure.workspace import Workspace, open_workspace
from sitegen.model.job import CeilingsJob, InspectJob, JobResult, KernelJob, RejectJob, SweepJob
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.try_job import TryJob

USAGE = "usage: python -m sitegen.measure [--wait] JOB.json RESULT.json"
WAIT_S = 0.01
"""Seconds between two looks at a file that does not exist yet."""


def main(arguments: list[str]) -> int:
    """Do the job and write its result; return the exit status."""
    wait, files = arguments[:1] == ["--wait"], [Path(one).resolve() for one in arguments if one != "--wait"]
    if len(files) != 2:
        print(USAGE, file=sys.stderr)
        return 2
    job_file, result_file = files
    try:
        with _temporary_folder() as folder:
            _answer(job_file, result_file, folder, wait)
    except UnreadableJob as error:
        print(f"{arguments[-2]}: {error}\n{USAGE}", file=sys.stderr)
        return 2
    return 0


class UnreadableJob(Exception):
    """The file of the job is missing, or no JSON."""


def _answer(job_file: Path, result_file: Path, folder: Path, wait: bool) -> None:
    """Do the job and write its result.  While it waits for the file of the job, the fork server imports torch.

    Raises UnreadableJob, and ValueError for an unknown kind of job.
    """
    data = None if wait else _read(job_file)
    with open_workspace(folder, job_file) as workspace:
        while wait and not job_file.exists():
            time.sleep(WAIT_S)
        result = _do_job_in(workspace, data or _read(job_file))
        _write(result_file, json.dumps(to_plain(result), sort_keys=True, indent=1) + "\n")


def _do_job_in(workspace: Workspace, data: Any) -> JobResult:
    with workspace.timed("total"):
        match data["kind"]:
            case "kernel":
                return run_kernel_job(from_plain(KernelJob, data), workspace)
            case "reject":
                return run_reject_job(from_plain(RejectJob, data), workspace)
            case "ceilings":
                return run_ceilings_job(from_plain(CeilingsJob, data), workspace)
            case "inspect":
                return run_inspect_job(from_plain(InspectJob, data), workspace)
            case "sweep":
                return run_sweep_job(from_plain(SweepJob, data), workspace)
            case "try":
                return run_try_job(from_plain(TryJob, data), workspace)
    raise ValueError(f"sitegen.measure has no jobs of the kind {data['kind']!r}")


def _read(job_file: Path) -> Any:
    try:
        return json.loads(job_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableJob(str(error)) from error


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Yield a folder for a job; it goes when the block ends, and also when a signal ends this process."""
    with tempfile.TemporaryDirectory(prefix="sitegen-measure-", ignore_cleanup_errors=True) as folder:
        _clean_up_on_signals(folder)
        yield Path(folder)


def _clean_up_on_signals(folder: str) -> None:
    """End this process, its children and its files on SIGTERM or SIGINT, also while a thread waits for a child."""

    def exit_now(number: int, _: FrameType | None) -> None:
        kill_all()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, exit_now)


def _write(file: Path, text: str) -> None:
    """Write the whole file or nothing."""
    part = file.with_name(file.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
