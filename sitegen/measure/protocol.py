"""Messages between the parent and a child process: one JSON object per line, over a private pair of pipes.

Standard output and standard error belong to the code under test.  The parent sends `{"do": NAME, …}` (requests.py).
The child answers each request with exactly one object: `{"reply": …}`, or `{"status": STATUS, "message": TEXT,
"log": TEXT}` when the evaluation ends with this request.
"""

from __future__ import annotations

import json
import os
import select
import time
from traceback import FrameSummary
from typing import Any

from sitegen.model.failure_log import explanation_in
from sitegen.model.kernel import Status

Message = dict[str, Any]
END: Message = {"end": True}
"""The last message of a process that evaluates candidates without being asked for each (try_process.py)."""


class EvaluationEnded(Exception):
    """An evaluation has ended early.

    `status` and `message` say why, the message in one sentence.  `log` holds all that a compiler or a process printed
    (model/failure_log.py); it is empty when the message says everything.  `line` is the author's line that did it, as
    long as the files of the job are known.
    """

    def __init__(self, status: Status, message: str, log: str = "", line: FrameSummary | None = None) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message, self.log, self.line = status, message, log, line

    @property
    def explanation(self) -> str:
        """The message in a few lines, with those of the author's files that led to it."""
        return explanation_in(self.log) or self.message

    def to_message(self) -> Message:
        """Return the message that a process sends or writes instead of its reply."""
        return {"status": self.status.value, "message": self.message, "log": self.log}

    @classmethod
    def from_message(cls, message: Message) -> EvaluationEnded:
        """Return what `to_message` gave in another process."""
        return cls(Status(message["status"]), message["message"], message["log"])


class ChannelClosed(Exception):
    """The process at the other end of the pipes has closed them, or has ended."""


class DeadlinePassed(Exception):
    """No message came before the deadline."""


class Channel:
    """One end of the pair of pipes: reads lines from one file descriptor and writes lines to another."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes, self.pending = reads, writes, b""

    def send(self, message: Message) -> None:
        """Write a message.  Raises ChannelClosed."""
        data = json.dumps(message).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self.writes, data) :]
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self, seconds: float | None = None) -> Message:
        """Return the next message.  Raises DeadlinePassed after `seconds`, ChannelClosed at the end of the pipe."""
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self.pending:
            self._wait(until)
            chunk = os.read(self.reads, 1 << 20)
            if not chunk:
                raise ChannelClosed("the pipe ended")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        message: Message = json.loads(line)
        return message

    def _wait(self, until: float | None) -> None:
        poll = select.poll()
        poll.register(self.reads, select.POLLIN)
        left = None if until is None else max(0.0, until - time.monotonic()) * 1000
        if not poll.poll(left):
            raise DeadlinePassed

    def close(self) -> None:
        """Close both file descriptors."""
        for fd in {self.reads, self.writes}:
            os.close(fd)
