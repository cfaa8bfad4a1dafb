"""A target in Slurm → a Dask worker for each GPU, in a job of its own that dask-jobqueue submits; and which jobs live.

A job that waits in Slurm's queue may wait for hours.  A job that ended, for instance at its limit of time, is submitted
again when its worker was connected before.  A job whose worker never came has its reason in `logs`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dask_jobqueue.slurm import SLURMJob
from distributed import Security, Status

from sitegen.execute.targets import Target
from sitegen.write.user_folders import cache_folder

DEATH_S = 60
"""Seconds after which a worker without a scheduler ends, and its job with it."""
SQUEUE = ("squeue", "--me", "--noheader", "--format=%A")
NO_WORKERS = "no job of Slurm has a worker any more: what they printed is in {folder}"
_GPUS = re.compile(r"--(gres|gpus)\b")


class SubmittedJob(SLURMJob):  # type: ignore[misc]
    """A job with one worker.  What `sbatch` says is the error of a job that it refuses."""

    async def start(self) -> None:
        try:
            await super().start()
        except RuntimeError as error:  # its text is a report of several lines, and the last is that of sbatch
            self.status = Status.failed
            raise RuntimeError(str(error).strip().splitlines()[-1]) from error


def logs() -> Path:
    """Return the folder of the output of jobs: with the user, because the nodes must reach it."""
    return cache_folder() / "sitegen" / "slurm"


def worker_specs(target: Target, security: Security) -> dict[str, Any]:
    """Return what Dask starts for each GPU, by the name of its worker."""
    options = _options(target, security)
    return {f"slurm-{number}": {"cls": SubmittedJob, "options": options} for number in range(1, target.slurm + 1)}


def _options(target: Target, security: Security) -> dict[str, Any]:
    gpus = [] if any(_GPUS.match(option) for option in target.sbatch) else ["--gres=gpu:1"]
    return {
        "cores": 1,
        "memory": "1GB",  # required, and not used: the next line leaves CPUs, memory and time to Slurm and the author
        "job_directives_skip": ["--cpus-per-task=", "--mem=", "SBATCH -t "],
        "job_extra_directives": [*gpus, *target.sbatch],
        "job_name": "sitegen",
        "processes": 1,
        "python": shlex.quote(target.python),
        "protocol": "tls://",
        "security": security,
        "death_timeout": DEATH_S,
        "log_directory": str(logs()),
        # the figures of a job come from child processes; the worker itself holds a few MB of JSON
        "worker_extra_args": ["--no-dashboard", "--resources", "GPU=1", "--memory-limit", "0"],
    }


def living_jobs(numbers: Iterable[str | None]) -> set[str] | None:
    """Return which of these jobs wait or run; None when Slurm does not answer."""
    try:
        done = subprocess.run(SQUEUE, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {number for number in numbers if number} & set(done.stdout.split()) if done.returncode == 0 else None
