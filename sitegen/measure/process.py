"""The parent's side of a child: start it, ask it with a deadline, end it and everything it started.

A child is a new process, or comes from a nursery (nursery.py), which saves it the imports.  It has its own process
group and a private pair of pipes.  What it prints goes to a file in the job's folder, whose end explains a death.
SIGTERM, two seconds, SIGKILL to the group: no orphans.
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
from typing import Any, Protocol

from sitegen.measure.protocol import Closed, Ended, Late, Link, Message
from sitegen.model.kernel import Status
from sitegen.model.variables import passed_on

GRACE_S = 2.0
_MEMORY_FAULTS = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
"""Exit codes of a process in which memory was used wrongly."""
_living: set[int] = set()
"""Process groups that were started and not ended."""
_PACKAGE_ROOT = Path(__file__).parents[2]


class Process(Protocol):
    """What a `subprocess.Popen` and a forked process have in common."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | Any: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class GoneError(RuntimeError):
    """A nursery has ended, and with it every child of the job."""


class Nursery:
    """A process that has imported torch, and forks itself for each child.  `environment` is that of all of them."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "sitegen.measure.nursery", str(theirs.fileno())]
        self._log = folder / "nursery.log"
        with theirs:
            self._process = spawn(command, folder, self._log, environment, (theirs.fileno(),))
        self._socket, self._lock = ours, Lock()

    def fork(self, arguments: Sequence[str], log: Path, fds: tuple[int, int]) -> Forked:
        """A child, as soon as the imports are done.  Raises GoneError."""
        pid: int = self._ask({"arguments": arguments, "log": str(log)}, fds)["pid"]
        _living.add(pid)
        return Forked(pid, self)

    def reap(self, pid: int) -> int:
        """The exit code of a dead one; as if killed where nobody knows it any more."""
        try:
            code: int = self._ask({"reap": pid})["code"]
        except GoneError:
            code = -signal.SIGKILL
        return code

    def end(self) -> None:
        self._socket.close()
        end_group(self._process)

    def _ask(self, request: Message, fds: Sequence[int] = ()) -> Message:
        try:
            with self._lock:
                socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
                reply: Message = json.loads(self._socket.recv(1 << 16))
                return reply
        except (OSError, ValueError) as error:
            words = " | ".join(last_words(self._log)) or "it said nothing"
            raise GoneError(f"the process from which all others of this job come is gone: {words}") from error


class Forked:
    """A process that is no child of this one, as if it were."""

    def __init__(self, pid: int, nursery: Nursery) -> None:
        self.pid, self._nursery = pid, nursery
        self.returncode: int | None = None
        self._fd, self._lock = os.pidfd_open(pid), Lock()  # it lives, or waits to be reaped

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        with self._lock:
            if self.returncode is None:
                poll = select.poll()
                poll.register(self._fd, select.POLLIN)
                if not poll.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
                self.returncode = self._nursery.reap(self.pid)
                os.close(self._fd)
            return self.returncode


class Child:
    """One process for one implementation, baseline or probe.  `arguments` are those of `sitegen.measure.child`;
    `source` is the nursery from which it comes, or the environment of a new process."""

    def __init__(self, name: str, arguments: list[str], folder: Path, source: Nursery | dict[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log".replace("/", "_")
        self.busy_s = 0.0
        """Time spent on requests so far, without `prepare`."""
        to_child, from_child = os.pipe(), os.pipe()
        self.link = Link(from_child[0], to_child[1])
        fds = (to_child[0], from_child[1])
        try:
            self.process: Process
            if isinstance(source, Nursery):
                self.process = source.fork(arguments, self.log, fds)
            else:
                command = [sys.executable, "-m", "sitegen.measure.child", *map(str, fds), *arguments]
                self.process = spawn(command, folder, self.log, source, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def ask(self, do: str, seconds: float, **arguments: Any) -> Any:
        """The child's reply.  Raises Ended with a status: its own, `timeout`, or `runtime_error` when it died."""
        try:
            self.link.send({"do": do, **arguments})
            return _reply(self.link.receive(seconds))
        except Late:
            self.end()
            raise Ended(Status.TIMEOUT, f"`{do}` took more than {seconds:.0f} s") from None
        except Closed:
            self.end()
            raise Ended(Status.RUNTIME_ERROR, self._obituary()) from None
        except Ended:
            self.end()
            raise

    def ask_within_budget(self, do: str, budget_s: float, **arguments: Any) -> Any:
        """As `ask`, with what is left of the evaluation's budget as the deadline."""
        start = time.monotonic()
        try:
            return self.ask(do, max(0.1, budget_s - self.busy_s), **arguments)
        finally:
            self.busy_s += time.monotonic() - start

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Ends the child's whole process group; may be called twice."""
        if self.link.reads >= 0:
            end_group(self.process)
            self.link.close()
            self.link.reads = self.link.writes = -1

    def _obituary(self) -> str:
        code = self.process.returncode
        cause = f"killed by {signal.Signals(-code).name}" if code is not None and code < 0 else f"exited with {code}"
        memory = code in _MEMORY_FAULTS
        hint = ["a kernel that reads or writes far outside of its tensors ends like this"] if memory else []
        return "\n".join([f"the process {cause}", *last_words(self.log), *hint])


def last_words(log: Path, lines: int = 6) -> list[str]:
    """The end of what a process printed; paths are the author's."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4000))
        text = file.read().decode(errors="replace").replace(f"{log.parent / 'site'}/", "")
        return [line for line in text.splitlines() if line.strip()][-lines:]
    return []


def kill_all() -> None:
    """At once and without grace: for a parent that must go."""
    for group in list(_living):
        _signal_group(group, signal.SIGKILL)


def _reply(message: Message) -> Any:
    if "status" in message:
        raise Ended(Status(message["status"]), message["message"])
    return message["reply"]


def spawn(
    command: list[str], folder: Path, log: Path, environment: dict[str, str], fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """The command in a process group of its own, which must be ended by `end_group`; it can import this package."""
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
    """Ends the process and all that it started; may be called twice."""
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
