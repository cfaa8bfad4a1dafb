"""Progress of a run: one message for the start and for the end of each job."""

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


Report = Callable[[Progress], None]
