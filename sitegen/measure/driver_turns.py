"""A turn at the driver: jobs on several GPUs of one host create their CUDA contexts one job after the other.

The driver creates one context after the other on the whole host, 0.2 s each on an H200.  When two jobs create theirs at
once, both wait until all are there.  In turn, the first job goes on at once, and later jobs are apart.  The lock is a
file that the workers of a run share (sitegen/execute/local.py); the system gives it back when a process dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sitegen.model.variables import DRIVER_LOCK

LONGEST_WAIT_S = 10.0
"""Seconds after which a job creates its contexts without a turn: code of a site could hold the lock for ever."""
POLL_S = 0.01


def shares_driver() -> bool:
    """Return whether this run has other workers on this host."""
    return bool(os.environ.get(DRIVER_LOCK))


@contextmanager
def turn_at_driver() -> Iterator[None]:
    """Wait for a turn, and hold it during the block; without other workers there is nothing to wait for."""
    if not shares_driver():
        yield
        return
    with Path(os.environ[DRIVER_LOCK]).open("ab") as lock:
        until = time.monotonic() + LONGEST_WAIT_S
        while not _locked(lock.fileno()) and time.monotonic() < until:
            time.sleep(POLL_S)
        yield


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
