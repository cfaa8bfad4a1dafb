"""A temporary folder and a job file → the workspace in which the job runs: its GPU and its child processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.imports import ASKS_NVML, EVALUATOR
from sitegen.measure.process import Child, ForkServer
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import CheckHealth, ReadEnvironment
from sitegen.model.record import Environment

PREPARE_S, EVALUATION_S = 120.0, 60.0
"""Deadlines in seconds: of compilers, and of everything else that one evaluation does."""
WITHOUT_GPU_SLOWER = 3.0
"""Factor of the deadlines under Triton's interpreter.  An endless loop costs as many minutes once in a run."""
_ONE_COMPILER = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""Without this torch.compile keeps a pool of processes, which would outlive the child."""
_INTERPRETER = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", **_ONE_COMPILER}
_COMPILER = {"TRITON_INTERPRET": "0", **ASKS_NVML, **_ONE_COMPILER}
_AHEAD = (EVALUATOR, "cuda.core", "triton")
"""Modules that the fork server imports at once on a GPU machine."""
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/dxg")
"""Files of the driver on Linux and in WSL.  A machine may have one, and no GPU that can be used."""


@dataclass(slots=True)
class Workspace:
    """Folder, GPU and processes of one job, and the seconds that its steps take."""

    folder: Path
    job_file: Path
    gpu: bool
    memory_bytes: int = 0
    """Memory of the GPU; 0 without one."""
    fork_server: ForkServer | None = None
    """The process that forks all others; open_workspace starts it."""
    environment: Environment | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by step; the names are part of the job's result."""
    unhealthy: str = ""
    """Why nothing more may be started on this GPU; empty while it works."""

    @property
    def slower(self) -> float:
        """Factor of all deadlines."""
        return 1.0 if self.gpu else WITHOUT_GPU_SLOWER

    @property
    def forks(self) -> ForkServer:
        """The fork server, which must have been started."""
        assert self.fork_server is not None
        return self.fork_server

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the wall time of the block to that step."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - start, 4)

    def start(self, role: str, name: str, generation: int = 1) -> Child:
        """Start a child process.  It dies with the fork server, so it never outlives its parent."""
        arguments = [str(self.job_file), role, name, str(self.folder / "site")]
        return Child(f"{role}-{name}-{generation}", arguments, self.folder, self.forks)


@contextmanager
def open_workspace(folder: Path, job_file: Path) -> Iterator[Workspace]:
    """Yield the workspace of a job, and end its processes afterwards.

    Triton learns from the environment of the fork server whether it is to compile or to interpret.
    """
    memory_bytes, fork_server = _gpu_and_fork_server(folder)
    try:
        yield Workspace(folder, job_file, memory_bytes > 0, memory_bytes, fork_server)
    finally:
        fork_server.end()


def _gpu_and_fork_server(folder: Path) -> tuple[int, ForkServer]:
    """Return the memory of the GPU, 0 without one, and the fork server for a machine with or without one.

    The driver takes 0.3 s to answer, so where it has a device file, the fork server imports torch meanwhile.
    """
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(gpu_memory_bytes)
        ahead = ForkServer(folder, _COMPILER, _AHEAD) if any(map(os.path.exists, _DEVICE_FILES)) else None
        memory_bytes = 0
        try:
            memory_bytes = asked.result()
        finally:
            if ahead and not memory_bytes:
                ahead.end()
    if memory_bytes:
        return memory_bytes, ahead or ForkServer(folder, _COMPILER, _AHEAD)
    return 0, ForkServer(folder, _INTERPRETER)


def read_environment(workspace: Workspace) -> None:
    """Ask a child for the facts of the GPU; do nothing without a GPU.  A failure makes the GPU unhealthy."""
    if not workspace.gpu:
        return
    child = workspace.start("environment", "environment")
    try:
        workspace.environment = child.ask(ReadEnvironment(), PREPARE_S)
    except EvaluationEnded as why:
        workspace.unhealthy = f"the facts of the GPU could not be read: {why}"
    finally:
        child.end()


def check_health(workspace: Workspace, after: str) -> None:
    """Run a known kernel in a fresh process, and mark the GPU as unhealthy unless the result is right."""
    with workspace.timed("health"):
        child = workspace.start("canary", f"after-{after}")
        try:
            healthy, why = child.ask(CheckHealth(), EVALUATION_S), "a known kernel gave a wrong sum"
        except EvaluationEnded as ended:
            healthy, why = False, str(ended)
        finally:
            child.end()
    if not healthy:
        workspace.unhealthy = f"the GPU does not work after {after}: {why}"
