"""Run a command as a whole process, start-up included, and return its times and memory, or medians of several runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""Bytes in the unit in which the system gives the memory of a process."""


@dataclass(frozen=True, slots=True)
class Usage:
    wall_s: float
    cpu_s: float
    """Seconds of processor time of the process and of all that it started and waited for."""
    peak_mib: float
    """Largest resident memory of these processes, in MiB."""


class CommandError(Exception):
    """A command failed; the message holds its output."""


def run(command: Sequence[str], folder: Path, **variables: str) -> Usage:
    """Run a command with `variables` added to the environment.  Raises CommandError."""
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        environment = {**os.environ, **variables}
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            text = said.read().decode(errors="replace")
            raise CommandError(f"{' '.join(command)}: exit status {process.returncode}\n{text}")
    return Usage(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * MAXRSS_BYTES / 2**20)


def medians(usages: Iterable[Usage]) -> Usage:
    """Return the median of each time and the largest memory."""
    several = list(usages)
    return Usage(
        median(usage.wall_s for usage in several),
        median(usage.cpu_s for usage in several),
        max(usage.peak_mib for usage in several),
    )


def sitegen() -> str:
    """Return the path of the program in this environment."""
    return str(Path(sys.executable).with_name("sitegen"))


def version(program: str) -> str:
    """Return the program's version as it prints it: `sitegen, version 1.0`."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
