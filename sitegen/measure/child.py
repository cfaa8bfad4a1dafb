"""Requests of the parent → replies, in one process for one implementation, baseline or probe.

The fork server (fork_server.py) forks the process.  It ends when the private channel (protocol.py) closes.  An
exception becomes one status, a message and a log, and the parent then ends the process.  A process that ran out of
memory gives back what it holds and lives on, because the parent may ask again once others need less (room.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitegen.measure.faults import failure_of
from sitegen.measure.protocol import Channel, ChannelClosed, Message
from sitegen.measure.requests import ChildTask, Request, request_of
from sitegen.model.kernel import Status
from sitegen.model.plain import to_plain

if TYPE_CHECKING:
    from sitegen.measure.evaluator import Evaluator

_PR_SET_PDEATHSIG = 1
CONNECTIONS = {"CUDA_DEVICE_MAX_CONNECTIONS": "2"}
"""Hardware queues of a context; CUDA reads this when it starts.

By default there are 8, and each takes time to create.  An evaluation uses one stream, and a kernel may add another.
"""


class RequestHandler:
    """Answers requests.  torch is imported with the first one, so that a missing package becomes a status."""

    def __init__(self, task: ChildTask) -> None:
        self._task = task
        self._evaluator: Evaluator | None = None

    def answer(self, message: Message) -> Message:
        """Return the reply, or the status with which the evaluation ends."""
        try:
            return {"reply": to_plain(self._reply(request_of(message)))}
        except BaseException as error:
            implementation = self._evaluator.implementation if self._evaluator else None
            failure = failure_of(error, self._task.folder, implementation)
        if failure.status is Status.OUT_OF_MEMORY:
            _give_memory_back()
        return failure.to_message()

    def _reply(self, request: Request[Any]) -> Any:
        if self._evaluator is None:
            from sitegen.measure.evaluator import Evaluator

            self._evaluator = Evaluator(self._task)
        return self._evaluator.answer(request)


def _give_memory_back() -> None:
    """Free the GPU's memory that the request which failed had taken."""
    gc.collect()  # frames of the traceback held its tensors
    if torch := sys.modules.get("torch"):
        with contextlib.suppress(Exception):  # a context that is broken says so at the next request
            torch.cuda.empty_cache()


def main(arguments: list[str]) -> None:
    """Answer requests until the channel closes.

    The arguments are the descriptors of its two pipes, the file of the job, role and name of the evaluation, and the
    folder with the sources of the job.
    """
    reads, writes, job_file, role, name, folder = arguments
    os.environ.update(CONNECTIONS | os.environ)
    channel = Channel(int(reads), int(writes))
    handler = RequestHandler(ChildTask(Path(job_file), role, name, Path(folder)))
    while True:
        try:
            message = channel.receive()
        except ChannelClosed:
            return
        channel.send(handler.answer(message))


def die_with_parent() -> None:
    """Ask the operating system to end this process when its parent is gone, even during a launch that hangs."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
