"""Jobs as plain JSON → results as plain JSON, run on this machine by one worker process per GPU.

With several GPUs each worker has a share of the cores for itself and for all that it starts (cores.py).

A worker uses only the pipes of its parent.  Nothing listens at an address, so no other user of the machine
can send it work.  A job whose worker is lost runs again in a new worker, twice at most.
What the lost worker had started is ended before, because two jobs on one GPU would disturb each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sitegen.execute.cores import Cores, core_shares, cores_near, usable_cores
from sitegen.execute.guard import end_marked
from sitegen.execute.measure_process import PACKAGE_ROOT, failure
from sitegen.execute.progress import Progress, Report, end_of_job
from sitegen.execute.targets import Device, Target
from sitegen.execute.told_rounds import LOOK_S, rounds_in
from sitegen.execute.work import run_job
from sitegen.model.variables import DRIVER_LOCK, passed_on

RETRIES = 2
LOST = f"the worker was lost {RETRIES + 1} times while it ran this job"
MARK = "SITEGEN_WORKER"
"""Variable in the environment of a worker and of all that it starts; no other worker has the same value."""
END_S = 10.0
"""Seconds that a worker may take to end its job when the run is over."""
FEW_THREADS = {
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Defaults for variables that the user has not set: the same as in a worker of Dask, so that figures of both can be
compared."""

Spec = Mapping[str, Any]
JobReply = dict[str, Any]


class WorkerProcess:
    """A process that runs one job at a time; started with the first job, and again after it was lost."""

    def __init__(
        self,
        device: Device,
        work: Callable[[Spec], JobReply],
        rounds: Path,
        place: str = "",
        cores: Cores = (),
        lock: str = "",
    ) -> None:
        self.place, self.gpu, self.rounds = place, device.gpu, rounds
        """Name and model of its GPU in a report, and the file with the rounds of the present job."""
        self._mark = secrets.token_hex(8)
        self._environment = (
            FEW_THREADS | passed_on(os.environ) | device.environment | {MARK: self._mark, DRIVER_LOCK: lock}
        )
        paths = filter(None, [str(PACKAGE_ROOT), self._environment.get("PYTHONPATH", "")])
        self._environment["PYTHONPATH"] = os.pathsep.join(paths)
        self._first: dict[str, Any] = {"path": sys.path, "module": work.__module__, "function": work.__qualname__}
        self._first |= {"cores": cores, "rounds": str(rounds)}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, spec: Spec) -> int:
        """Give the worker a job; return the file descriptor that becomes readable when it ends."""
        if self._process is None:
            command = [sys.executable, "-m", "sitegen.execute.worker"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for the parent, which then ends its workers
            )
            self._send(self._first)
        self.rounds.unlink(missing_ok=True)
        self._send(spec)
        assert self._process.stdout
        return self._process.stdout.fileno()

    def result(self) -> JobReply | None:
        """Return the result of the job; None when the process has ended instead, and all that it started too."""
        assert self._process and self._process.stdout
        try:
            result: JobReply = json.loads(self._process.stdout.readline())
            return result
        except ValueError:
            self.end()
            end_marked(MARK, self._mark)
            return None

    def end(self) -> None:
        """Close the worker's input, at which it ends its job and itself."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin and process.stdout
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _send(self, message: Spec) -> None:
        """Write a line; when the worker has ended, `result` says so."""
        assert self._process and self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()


def execute(
    specs: Sequence[Spec], target: Target, report: Report, work: Callable[[Spec], JobReply] = run_job
) -> Iterator[JobReply]:
    """Yield the result of every job, in the order in which they finish.  Workers import `work` by its name."""
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sitegen-run-", ignore_cleanup_errors=True))
        idle = deque(_workers(target, work, Path(folder)))
        for worker in idle:
            stack.callback(worker.end)
        jobs = _Jobs(deque(specs), idle, selector, len(specs), report)
        while jobs.waiting or selector.get_map():
            while jobs.waiting and idle:
                jobs.start_next()
            for ready, _ in selector.select(LOOK_S):
                if (result := jobs.take_result(ready)) is not None:
                    yield result
            jobs.report_rounds()


def _workers(target: Target, work: Callable[[Spec], JobReply], folder: Path) -> Iterator[WorkerProcess]:
    """Yield a worker for each device, which starts with its first job; several take turns at the driver by a file."""
    lock = str(folder / "driver") if len(target.devices) > 1 else ""
    shares = core_shares(usable_cores(), [cores_near(device.bus) for device in target.devices])
    for number, (device, cores) in enumerate(zip(target.devices, shares, strict=True)):
        place = f"GPU {number}" if device.gpu else "the CPU"
        yield WorkerProcess(device, work, folder / f"rounds-{number}", place, cores, lock)


@dataclass(slots=True)
class _Jobs:
    """Jobs that wait, run and are done, and the workers that are idle."""

    waiting: deque[Spec]
    idle: deque[WorkerProcess]
    selector: selectors.BaseSelector
    total: int
    report: Report
    lost: Counter[str] = field(default_factory=Counter)
    """Workers that each job has lost, by the id of the job."""
    done: int = 0
    told: dict[str, int] = field(default_factory=dict)
    """Rounds of the present job that were reported, by the place of its worker."""

    def start_next(self) -> None:
        """Give the next job to an idle worker."""
        worker, spec = self.idle.popleft(), self.waiting.popleft()
        self.told[worker.place] = 0
        self._report_state(worker, spec, "started")
        self.selector.register(worker.start(spec), selectors.EVENT_READ, (worker, spec, time.monotonic()))

    def report_rounds(self) -> None:
        """Report the rounds of each job that has begun another one."""
        for worker, spec, _ in [key.data for key in self.selector.get_map().values()]:
            if (rounds := rounds_in(worker.rounds)) > self.told[worker.place]:
                self.told[worker.place] = rounds
                self._report_state(worker, spec, "measuring", rounds)

    def _report_state(self, worker: WorkerProcess, spec: Spec, state: str, rounds: int = 0) -> None:
        count = self.done, self.total
        self.report(Progress(spec["id"], state, *count, place=worker.place, gpu=worker.gpu, rounds=rounds))

    def take_result(self, ready: selectors.SelectorKey) -> JobReply | None:
        """Return the result of a worker whose pipe is readable; None when it was lost and the job waits again."""
        worker, spec, began = ready.data
        self.selector.unregister(ready.fd)
        result = worker.result()
        self.idle.append(worker)
        if result is None:
            self.lost[spec["id"]] += 1
            if self.lost[spec["id"]] <= RETRIES:
                self.waiting.appendleft(spec)
                return None
            result = failure(spec, LOST)
        self.done += 1
        self.report(end_of_job(spec["id"], result, self.done, self.total, time.monotonic() - began))
        return dict(result)
