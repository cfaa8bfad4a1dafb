"""One job as JSON → its result as JSON: `python -m sitegen.measure JOB.json RESULT.json`.

Exit 0 when a result was written, 2 for wrong usage.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.inspect_job import run_inspect_job
from sitegen.measure.jobs import run_ceilings_job, run_kernel_job, run_reject_job
from sitegen.measure.process import kill_all
from sitegen.measure.sweep_job import run_sweep_job
from sitegen.measure.try_job import run_try_job
from sitegen.measure.workspace import open_workspace
from sitegen.model.job import CeilingsJob, InspectJob, JobResult, KernelJob, RejectJob, SweepJob
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.try_job import TryJob

USAGE = "usage: python -m sitegen.measure JOB.json RESULT.json"


def main(arguments: list[str]) -> int:
    """Do the job and write its result; return the exit status."""
    if len(arguments) != 2:
        print(USAGE, file=sys.stderr)
        return 2
    job_file, result_file = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    try:
        data = json.loads(job_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"{arguments[0]}: {error}\n{USAGE}", file=sys.stderr)
        return 2
    result = do_job(job_file, data)
    _write(result_file, json.dumps(to_plain(result), sort_keys=True, indent=1) + "\n")
    return 0


def do_job(job_file: Path, data: Any) -> JobResult:
    """Return the result of the job, which runs in a temporary folder.  Raises ValueError for an unknown kind of job."""
    with tempfile.TemporaryDirectory(prefix="sitegen-measure-", ignore_cleanup_errors=True) as folder:
        _clean_up_on_signals(folder)
        if data["kind"] == "try":
            return run_try_job(from_plain(TryJob, data), Path(folder), gpu_memory_bytes() > 0)
        if data["kind"] == "sweep":
            return run_sweep_job(from_plain(SweepJob, data), Path(folder), gpu_memory_bytes() > 0)
        with open_workspace(Path(folder), job_file) as workspace, workspace.timed("total"):
            if data["kind"] == "kernel":
                return run_kernel_job(from_plain(KernelJob, data), workspace)
            if data["kind"] == "reject":
                return run_reject_job(from_plain(RejectJob, data), workspace)
            if data["kind"] == "ceilings":
                return run_ceilings_job(from_plain(CeilingsJob, data), workspace)
            if data["kind"] == "inspect":
                return run_inspect_job(from_plain(InspectJob, data), workspace)
    raise ValueError(f"sitegen.measure has no jobs of the kind {data['kind']!r}")


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
