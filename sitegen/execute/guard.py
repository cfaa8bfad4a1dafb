"""A command → its exit status; the command and all that it started end with the process that asked for it.

`python -m sitegen.execute.guard FOLDER COMMAND…`: the parent holds the other end of standard input.  When that closes,
because the parent was killed or has no job for the command, the command and all processes that it started are ended,
also those in sessions of their own: SIGTERM, and after two seconds SIGKILL.  A forgotten process on a GPU would make
the figures of the next job wrong.  When the parent writes a number there, the same happens so many seconds later.
FOLDER is the temporary folder of the command; it is removed when the parent is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import psutil

GRACE_S = 2.0
LATE, ABANDONED = 124, 125
_PR_SET_CHILD_SUBREAPER = 36


def main(arguments: Sequence[str]) -> int:
    """Return the exit status of the command, LATE after a timeout, or ABANDONED when the parent is gone."""
    adopt_orphans(True)
    folder, *words = arguments
    command = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        status = _wait(command)
    finally:
        end(psutil.Process().children(recursive=True))
    if status == ABANDONED or _is_abandoned():
        shutil.rmtree(folder, ignore_errors=True)
    return status


def _is_abandoned() -> bool:
    """Return whether the parent has closed its end of standard input, or is gone."""
    return bool(select.select([0], [], [], 0)[0]) and not os.read(0, 64)


def end_marked(variable: str, value: str) -> None:
    """End every process of this machine in whose environment a variable had this value when it began."""
    end([process for process in psutil.process_iter() if _environment(process).get(variable) == value])


def _environment(process: psutil.Process) -> dict[str, str]:
    """Return the environment with which a process began; empty for one that has ended, or is another user's."""
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}


def end(processes: Sequence[psutil.Process]) -> None:
    """End the processes: by SIGTERM, and by SIGKILL those that still live GRACE_S later."""
    for process in processes:
        _signal(process, "terminate")
    _, alive = psutil.wait_procs(processes, GRACE_S)
    for process in alive:
        _signal(process, "kill")
    psutil.wait_procs(alive, GRACE_S)


def _wait(command: subprocess.Popen[bytes]) -> int:
    deadline = math.inf
    while (status := command.poll()) is None:
        if time.monotonic() > deadline:
            return LATE
        if select.select([0], [], [], 0.05)[0]:
            if not (line := os.read(0, 64)):
                return ABANDONED
            deadline = time.monotonic() + float(line)
    return status


@contextlib.contextmanager
def leaving_no_process() -> Iterator[None]:
    """End every process that was started in the block and still lives, also one in a session of its own (Linux)."""
    before = psutil.Process().children()
    adopt_orphans(True)
    try:
        yield
    finally:
        new = [one for one in psutil.Process().children() if one not in before]
        end([one for top in new for one in (top, *_below(top))])
        adopt_orphans(False)


def _below(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def adopt_orphans(adopts: bool) -> None:
    """Make processes whose parents died children of this one (Linux), so that they are ended too; or no longer."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopts), 0, 0, 0)


def _signal(process: psutil.Process, how: str) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        getattr(process, how)()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
