"""Time the steps of a build, for a progress bar, the line of a step, and `--profile`."""

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
    """The number of things to do; 0 when they are not counted."""
    done: int = 0
    seconds: float = 0.0
    finished: bool = False


@dataclass(slots=True)
class Steps:
    """The steps of one build.  `listener` is called with a step when it begins, when it proceeds and when it ends."""

    listener: Callable[[BuildStep], None] = lambda step: None
    all: list[BuildStep] = field(default_factory=list)

    @contextlib.contextmanager
    def step(self, name: str, total: int = 0) -> Iterator[Callable[[int], None]]:
        """Time a step, which is named after the step of the pipeline.  Yields a function that takes the number of
        further things that are done.
        """
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
