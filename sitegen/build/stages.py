"""What a build is doing and how long each stage took: for a bar, a line, `--profile`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stage:
    name: str
    total: int
    """Things to do; 0 when they are not counted."""
    done: int = 0
    seconds: float = 0.0
    finished: bool = False


@dataclass(slots=True)
class Stages:
    """Of one build.  `hear` is called with a stage when it begins, goes on and ends."""

    hear: Callable[[Stage], None] = lambda stage: None
    all: list[Stage] = field(default_factory=list)

    @contextlib.contextmanager
    def stage(self, name: str, total: int = 0) -> Iterator[Callable[[int], None]]:
        """Gives a function that is told how many more things are done."""
        stage, began = Stage(name, total), time.perf_counter()
        self.all.append(stage)
        self.hear(stage)

        def tick(count: int) -> None:
            stage.done += count
            stage.seconds = time.perf_counter() - began
            self.hear(stage)

        try:
            yield tick
        finally:
            stage.seconds, stage.finished = time.perf_counter() - began, True
            self.hear(stage)
