"""Carry the rounds of a job from the file that its process writes to the one who shows them, while the job runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Event, Thread

LOOK_S = 1.0
"""Seconds between two looks at the file."""

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


@contextmanager
def told_to(listener: Callable[[int], None]) -> Iterator[None]:
    """Let jobs in this block tell a listener their rounds.  It is called from another thread."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextmanager
def watched(file: Path) -> Iterator[None]:
    """Tell the listener of this thread each new number in a file; the file may be missing."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    over = Event()
    thread = Thread(target=_watch, args=(file, listener, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def rounds_in(file: Path) -> int:
    """Return the number in a file, 0 where there is none: code under test could write there, too."""
    with suppress(OSError, ValueError):
        return max(0, int(file.read_bytes()[:10]))
    return 0


def _watch(file: Path, listener: Callable[[int], None], over: Event) -> None:
    told = 0
    while not over.wait(LOOK_S):
        if (rounds := rounds_in(file)) > told:
            listener(told := rounds)
