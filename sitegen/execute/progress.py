"""What a run says while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One line for whoever waits."""

    job: str
    state: str
    """`started`, `finished` or `failed`."""
    done: int
    total: int
    seconds: float = 0.0
    message: str = ""


Report = Callable[[Progress], None]
