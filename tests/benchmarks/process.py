"""A command → what one whole process of it costs, start-up included, and the medians of several."""

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
"""The unit of the system's figure."""


@dataclass(frozen=True, slots=True)
class Usage:
    wall_s: float
    cpu_s: float
    """Of the process and all that it started and waited for."""
    peak_mib: float
    """The resident memory of the largest of these processes, when it was largest."""


class CommandError(Exception):
    """A command that failed; the message holds what it said."""


def run(command: Sequence[str], folder: Path, **variables: str) -> Usage:
    """`variables` are added to the environment.  Raises CommandError."""
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
    """Figure by figure, except memory: its largest."""
    several = list(usages)
    return Usage(
        median(usage.wall_s for usage in several),
        median(usage.cpu_s for usage in several),
        max(usage.peak_mib for usage in several),
    )


def sitegen() -> str:
    """The program of the environment in which this runs."""
    return str(Path(sys.executable).with_name("sitegen"))


def version(program: str) -> str:
    """As the program says it: `sitegen, version 1.0`."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
