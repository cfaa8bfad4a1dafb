"""The parent's side of a child process: start it, send it requests with a deadline, end it with all that it started.

A child is forked by a fork server (fork_server.py), which saves it the imports.  It has its own process group and a
private pair of pipes.  Its output goes to a file in the job's folder; the end of that file is part of the message when
the child dies.  A child is ended by SIGTERM and two seconds later by SIGKILL to its group.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from sitegen.measure.protocol import Channel, ChannelClosed, DeadlinePassed, EvaluationEnded, Message
from sitegen.measure.requests import Request, message_of
from sitegen.model.failure_log import LARGEST_LOG, LONGEST_SENTENCE, log_of, without_machine_paths
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain
from sitegen.model.variables import passed_on

GRACE_S = 2.0
_MEMORY_FAULTS = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
"""Exit codes of a process that used memory wrongly."""
_living: set[int] = set()
"""Process groups that were started and not yet ended."""
_PACKAGE_ROOT = Path(__file__).parents[2]

R = TypeVar("R")


class Process(Protocol):
    """The methods that `subprocess.Popen` and a forked process have in common."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | Any: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class ForkServerGone(RuntimeError):
    """The fork server has ended, and with it every child of the job."""


class ForkServer:
    """A process that has imported torch and forks itself for each process of a job.  All have its `environment`.

    It imports `modules` at once.
    """

    def __init__(self, folder: Path, environment: dict[str, str], modules: Sequence[str] = ()) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "sitegen.measure.fork_server", str(theirs.fileno()), *modules]
        self._log = folder / "fork_server.log"
        with theirs:
            self._process = spawn(command, folder, self._log, environment, (theirs.fileno(),))
        self._socket, self._lock = ours, Lock()

    def fork(self, program: str, arguments: Sequence[str], log: Path, fds: Sequence[int] = ()) -> ForkedProcess:
        """Return a new process of a program of fork_server.py, a child as soon as the imports are done.

        It inherits `fds`.  Raises ForkServerGone.
        """
        pid: int = self._ask({"program": program, "arguments": arguments, "log": str(log)}, fds)["pid"]
        _living.add(pid)
        return ForkedProcess(pid, self)

    def reap(self, pid: int) -> int:
        """Return the exit code of a dead process; that of a killed one when the fork server is gone."""
        try:
            code: int = self._ask({"reap": pid})["code"]
        except ForkServerGone:
            code = -signal.SIGKILL
        return code

    def end(self) -> None:
        """End the fork server and so all that it forked."""
        self._socket.close()
        end_group(self._process)

    def _ask(self, request: Message, fds: Sequence[int] = ()) -> Message:
        try:
            with self._lock:
                socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
                reply: Message = json.loads(self._socket.recv(1 << 16))
                return reply
        except (OSError, ValueError) as error:
            words = " | ".join(last_lines(self._log)) or "it printed nothing"
            raise ForkServerGone(
                f"the fork server, which starts every process of this job, is gone: {words}"
            ) from error


class ForkedProcess:
    """A process that the fork server started: its parent is the fork server, and it behaves like a `Process`."""

    def __init__(self, pid: int, fork_server: ForkServer) -> None:
        self.pid, self._fork_server = pid, fork_server
        self.returncode: int | None = None
        self._fd, self._lock = os.pidfd_open(pid), Lock()  # the PID is valid: it lives, or waits to be reaped

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once it has ended.  Raises subprocess.TimeoutExpired."""
        with self._lock:
            if self.returncode is None:
                poll = select.poll()
                poll.register(self._fd, select.POLLIN)
                if not poll.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
                self.returncode = self._fork_server.reap(self.pid)
                os.close(self._fd)
            return self.returncode


class Child:
    """One process for one implementation, baseline or probe; `arguments` are those of `sitegen.measure.child.main`
    without the pipes.
    """

    def __init__(self, name: str, arguments: list[str], folder: Path, fork_server: ForkServer) -> None:
        self.name = name
        self.log = folder / f"{name}.log".replace("/", "_")
        self.busy_s = 0.0
        """Time that requests with a budget have taken so far."""
        to_child, from_child = os.pipe(), os.pipe()
        self.channel = Channel(from_child[0], to_child[1])
        fds = (to_child[0], from_child[1])
        try:
            self.process: Process = fork_server.fork("child", arguments, self.log, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def ask(self, request: Request[R], seconds: float) -> R:
        """Return the child's reply.

        Raises EvaluationEnded: with the status that it gave, `timeout`, or `runtime_error` when it died.  After that
        the child has ended, unless it ran out of memory: then it may be asked again.
        """
        try:
            self.channel.send(message_of(request))
            return _reply(request, self.channel.receive(seconds))
        except DeadlinePassed:
            self.end()
            raise EvaluationEnded(Status.TIMEOUT, f"{request.work} took more than {seconds:.0f} s") from None
        except ChannelClosed:
            self.end()
            raise self._death(request.work) from None
        except EvaluationEnded as why:
            if why.status is not Status.OUT_OF_MEMORY:
                self.end()
            raise

    def ask_within_budget(self, request: Request[R], budget_s: float) -> R:
        """Return the reply as `ask` does, with what is left of the evaluation's budget as the deadline."""
        start = time.monotonic()
        try:
            return self.ask(request, max(0.1, budget_s - self.busy_s))
        finally:
            self.busy_s += time.monotonic() - start

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """End the child's whole process group; may be called twice."""
        if self.channel.reads >= 0:
            end_group(self.process)
            self.channel.close()
            self.channel.reads = self.channel.writes = -1

    def _death(self, work: str) -> EvaluationEnded:
        """Return how the process ended at some work; the sentence has its last words, the log all that it printed."""
        code = self.process.returncode
        killed = code is not None and code < 0
        how = f"was killed by {signal.Signals(-code).name}" if killed else f"exited with {code}"
        cause = f"the process {how} during {work}"
        hint = ["a kernel that reads or writes far outside of its tensors ends like this"]
        words = last_lines(self.log)
        sentence = ": ".join([cause, *words[-1:]])
        explanation = [cause, *words, *(hint if code in _MEMORY_FAULTS else [])]
        return EvaluationEnded(
            Status.RUNTIME_ERROR, sentence[:LONGEST_SENTENCE], log_of("\n".join(explanation), _printed(self.log))
        )


def last_lines(log: Path, lines: int = 6) -> list[str]:
    """Return the end of what a process printed, without paths of this machine."""
    return [line for line in _printed(log, 4000).splitlines() if line.strip()][-lines:]


def _printed(log: Path, most_bytes: int = LARGEST_LOG) -> str:
    """Return what a process printed, or the end of it, without paths of this machine."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - most_bytes))
        text = file.read().decode(errors="replace")
        return without_machine_paths(text, (log.parent / "site",))
    return ""


def kill_all() -> None:
    """Kill every process group at once and without grace: for a parent that must end now."""
    for group in list(_living):
        _signal_group(group, signal.SIGKILL)


def _reply(request: Request[R], message: Message) -> R:
    if "status" in message:
        raise EvaluationEnded.from_message(message)
    reply: R = from_plain(request.reply, message["reply"])
    return reply


def spawn(
    command: list[str], folder: Path, log: Path, environment: dict[str, str], fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a command in `folder` and in a process group of its own, which `end_group` must end.

    Its output goes to `log`, it inherits `fds`, and it can import this package.
    """
    paths = [str(_PACKAGE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            pass_fds=fds,
            start_new_session=True,
            env={**passed_on(os.environ), **environment, "PYTHONPATH": os.pathsep.join(paths)},
        )
    _living.add(process.pid)
    return process


def end_group(process: Process) -> None:
    """End the process and all that it started; may be called twice."""
    for number, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 10.0)):
        _signal_group(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    _signal_group(process.pid, signal.SIGKILL)
    _living.discard(process.pid)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
