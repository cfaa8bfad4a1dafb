"""The parent's side of a child: start it, ask it with a deadline, end it and everything it started.

A child has its own process group and a private pair of pipes.  What it prints goes to a file in the
job's folder, whose end explains a death.  SIGTERM, two seconds, SIGKILL to the group: no orphans.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sitegen.measure.protocol import Closed, Ended, Late, Link, Message
from sitegen.model.kernel import Status

GRACE_S = 2.0
_living: set[int] = set()
"""Process groups that were started and not ended."""
_PACKAGE_ROOT = Path(__file__).parents[2]


class Child:
    """One process for one implementation, baseline or probe.  `arguments` are those of `sitegen.measure.child`."""

    def __init__(self, name: str, arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log".replace("/", "_")
        self.busy_s = 0.0
        """Time spent on requests so far, without `prepare`."""
        to_child, from_child = os.pipe(), os.pipe()
        self.link = Link(from_child[0], to_child[1])
        fds = (to_child[0], from_child[1])
        try:
            command = [sys.executable, "-m", "sitegen.measure.child", *map(str, fds), *arguments]
            self.process = spawn(command, folder, self.log, environment, fds)
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
        return "\n".join([f"the process {cause}", *self.last_words()])

    def last_words(self, lines: int = 6) -> list[str]:
        """The end of what the child printed."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 4000))
            text = file.read().decode(errors="replace").replace(f"{self.log.parent / 'site'}/", "")
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
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(paths)},
        )
    _living.add(process.pid)
    return process


def end_group(process: subprocess.Popen[bytes]) -> None:
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
