"""`python -m sitegen.execute.guard SECONDS FOLDER COMMAND…`: runs a command that must not outlive whoever asked for it.

The asker holds the other end of standard input.  When that closes (it was killed), or after SECONDS, the command and
everything that it started, also in sessions of their own, is ended: SIGTERM, two seconds, SIGKILL.  A GPU on which a
forgotten process still runs gives wrong figures to the next.  FOLDER is the asker's, made for the command: when the
asker is gone, nobody else removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

import psutil

GRACE_S = 2.0
LATE, ABANDONED = 124, 125
_PR_SET_CHILD_SUBREAPER = 36


def main(arguments: Sequence[str]) -> int:
    """The command's exit status, LATE or ABANDONED."""
    _adopt_orphans()
    seconds, folder, *words = arguments
    command = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        status = _wait(command, time.monotonic() + float(seconds))
    finally:
        end(psutil.Process().children(recursive=True))
    if status == ABANDONED:
        shutil.rmtree(folder, ignore_errors=True)
    return status


def end(processes: Sequence[psutil.Process]) -> None:
    """Ends each of them, the stubborn by force."""
    for process in processes:
        _signal(process, "terminate")
    _, alive = psutil.wait_procs(processes, GRACE_S)
    for process in alive:
        _signal(process, "kill")
    psutil.wait_procs(alive, GRACE_S)


def _wait(command: subprocess.Popen[bytes], deadline: float) -> int:
    while (status := command.poll()) is None:
        if time.monotonic() > deadline:
            return LATE
        if select.select([0], [], [], 0.05)[0] and not os.read(0, 1):
            return ABANDONED
    return status


def _adopt_orphans() -> None:
    """A process whose parent died becomes our child (Linux), so that it is found when everything is ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _signal(process: psutil.Process, how: str) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        getattr(process, how)()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
