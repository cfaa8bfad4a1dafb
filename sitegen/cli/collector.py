"""Tune Python's garbage collector for commands that keep a whole site in memory."""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator


def tune_for_build() -> None:
    """Search for garbage rarely, and not at the end of the process.

    A build keeps almost all objects that it makes.  Searching them for garbage took a fifth of the time of an edit, and
    60 ms at the end of a build of 1,000 posts.
    """
    gc.set_threshold(1_000_000, 50, 1000)
    atexit.register(gc.freeze)


@contextlib.contextmanager
def tuned_for_preview() -> Iterator[None]:
    """Stop the search for garbage while a site is read, because a read site is no garbage, and search rarely
    afterwards.
    """
    gc.set_threshold(100_000, 50, 1000)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
