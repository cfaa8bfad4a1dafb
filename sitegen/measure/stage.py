"""Where a job runs: its folder, its GPU, its children; steps taken side by side, and what follows a fault."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sitegen.measure.contestant import Contestant
from sitegen.measure.environment import gpu_present
from sitegen.measure.process import Child, Nursery
from sitegen.measure.protocol import Ended
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Environment

PREPARE_S, EVALUATION_S = 120.0, 60.0
"""Deadlines: of compilers, and of everything else that one evaluation does."""
WITHOUT_GPU_SLOWER = 3.0
"""How much longer the deadlines are under Triton's interpreter.  An endless loop costs this many minutes a workload."""
_ONE_COMPILER = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""Else torch.compile keeps a pool of processes, which would outlive the child."""
_INTERPRETER = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", **_ONE_COMPILER}
_COMPILER = {"TRITON_INTERPRET": "0", **_ONE_COMPILER}

_SHAKES_THE_GPU = (Status.RUNTIME_ERROR, Status.TIMEOUT)


@dataclass(slots=True)
class Stage:
    """Where a job runs, and where its time goes."""

    folder: Path
    job_file: Path
    gpu: bool
    nursery: Nursery | None = None
    """Whence children come; None: each is a new process."""
    environment: Environment | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    unhealthy: str = ""
    """Why nothing more may be started on this GPU."""

    @property
    def slower(self) -> float:
        return 1.0 if self.gpu else WITHOUT_GPU_SLOWER

    @property
    def memory_bytes(self) -> int:
        return self.environment.memory_bytes if self.environment else 0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - start, 4)

    def start(self, role: str, name: str, generation: int = 1) -> Child:
        """A child that dies with the nursery, or else with the thread that starts it: none outlives a parent that is
        gone."""
        arguments = [str(self.job_file), role, name, str(self.folder / "site")]
        return Child(f"{role}-{name}-{generation}", arguments, self.folder, self.nursery or _INTERPRETER)


@contextmanager
def new_stage(folder: Path, job_file: Path) -> Iterator[Stage]:
    """With a GPU children come from a nursery; an interpreter must be chosen before torch is imported."""
    nursery = Nursery(folder, _COMPILER) if gpu_present() else None
    try:
        yield Stage(folder, job_file, nursery is not None, nursery)
    finally:
        if nursery:
            nursery.end()


def read_environment(stage: Stage) -> None:
    """Asks a child for the GPU's facts; nothing without a GPU."""
    if not stage.gpu:
        return
    child = stage.start("environment", "environment")
    try:
        stage.environment = from_plain(Environment, child.ask("environment", PREPARE_S))
    except Ended as why:
        stage.unhealthy = f"the GPU's facts could not be read: {why}"
    finally:
        child.end()


Noted = Callable[[Contestant, Ended], None]


def out(contestant: Contestant, why: Ended) -> None:
    contestant.ended(why)


def side_by_side(
    contestants: Iterable[Contestant],
    stage: Stage,
    step: Callable[[Contestant], Any],
    at_once: int | None = None,
    noted: Noted = out,
) -> None:
    """The step for all that are still in it; an end is noted, not raised."""
    running = [c for c in contestants if c.running]
    with ThreadPoolExecutor(max(1, min(len(running), at_once or os.cpu_count() or 1))) as pool:
        list(pool.map(lambda contestant: guarded(contestant, stage, step, noted), running))


def guarded(contestant: Contestant, stage: Stage, step: Callable[[Contestant], Any], noted: Noted = out) -> None:
    """The step, with an end noted on the contestant and the GPU looked at after a fault."""
    if stage.unhealthy:
        noted(contestant, Ended(Status.NOT_RUN, stage.unhealthy))
        return
    try:
        step(contestant)
    except Ended as why:
        noted(contestant, why)
        if stage.gpu and why.status in _SHAKES_THE_GPU:
            expect_healthy(stage, contestant.name)


def expect_healthy(stage: Stage, after: str) -> None:
    """A fresh process runs a known kernel; unless it is right, the device is out of this run."""
    with stage.timed("health"):
        child = stage.start("canary", f"after-{after}")
        try:
            healthy, why = bool(child.ask("healthy", EVALUATION_S)), "a known kernel gave a wrong sum"
        except Ended as ended:
            healthy, why = False, str(ended)
        finally:
            child.end()
    if not healthy:
        stage.unhealthy = f"the GPU is not healthy after {after}: {why}"


def end_all(contestants: Iterable[Contestant]) -> None:
    """Every child of theirs, side by side: a GPU's memory takes a while to be given back."""
    end_children([child for c in contestants for child in (c.child, *c.successors) if child is not None])


def end_children(children: Sequence[Child]) -> None:
    with ThreadPoolExecutor(max(1, len(children))) as pool:
        list(pool.map(lambda child: child.end(), children))


def child_of(contestant: Contestant) -> Child:
    assert contestant.child is not None
    return contestant.child
