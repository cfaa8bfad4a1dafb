"""The steps that a build takes and how long each took: for a progress bar, a line, `--profile`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class BuildStep:
    """One step of a build, while it runs and afterwards."""

    name: str
    total: int
    """Things to do; 0 when they are not counted."""
    done: int = 0
    seconds: float = 0.0
    finished: bool = False


@dataclass(slots=True)
class Steps:
    """The steps of one build.  `listener` is called with a step when it begins, goes on and ends."""

    listener: Callable[[BuildStep], None] = lambda step: None
    all: list[BuildStep] = field(default_factory=list)

    @contextlib.contextmanager
    def step(self, name: str, total: int = 0) -> Iterator[Callable[[int], None]]:
        """Time a step.  Gives a function that is told how many more things are done."""
        step, began = BuildStep(name, total), time.perf_counter()
        self.all.append(step)
        self.listener(step)

        def tick(count: int) -> None:
            step.done += count
            step.seconds = time.perf_counter() - began
            self.listener(step)

        try:
            yield tick
        finally:
            step.seconds, step.finished = time.perf_counter() - began, True
            self.listener(step)
