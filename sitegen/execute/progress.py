"""Progress of a run: one message for each start and for the end of each job, and for the rounds between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """State of one job, and of the run."""

    job: str
    state: str
    """`started`, `measuring`, `finished` or `failed`."""
    done: int
    """Jobs that have ended."""
    total: int
    seconds: float = 0.0
    """Wall time of the job; 0 when it starts."""
    message: str = ""
    """Why it failed; empty otherwise."""
    place: str = ""
    """The host or the GPU on which it runs; empty when it ends."""
    gpu: str = ""
    """The model of the GPU, `nvidia-h200`; empty without one, and when the job ends."""
    rounds: int = 0
    """The rounds that the job has begun; 0 before the first one, and when the job ends."""


Report = Callable[[Progress], None]
