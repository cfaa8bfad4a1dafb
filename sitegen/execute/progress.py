"""Progress of a run: one message for each start and for the end of each job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """State of one job, and of the run."""

    job: str
    state: str
    """`started`, `finished` or `failed`."""
    done: int
    """Jobs that have ended."""
    total: int
    seconds: float = 0.0
    """Wall time of the job; 0 when it starts."""
    message: str = ""
    """Why it failed; empty otherwise."""
    place: str = ""
    """The host or the GPU on which it starts; empty when it ends."""


Report = Callable[[Progress], None]
