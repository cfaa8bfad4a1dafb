"""Process batches of work on all cores, in forked processes.

The processes inherit the memory of their parent, so that no large value is sent to them.

The numbers of all batches wait in one pipe, from which each worker takes the next.  The results come back through a
pipe for each worker.  A worker whose parent is gone ends at its next answer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import selectors
import signal
import struct
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")
_NUMBER = struct.Struct("<I")
_MIN_BATCHES = 2
"""The number of batches below which a fork costs more than it saves."""
_MAX_TASKS = 64
"""The most tasks in a batch.  With posts of 10 KB, batches of 16 gained less, and batches of 240 gained no more."""
_LAST_TASKS = 8
"""The number of tasks in the last batches."""
_MAX_WEIGHT_BYTES = 1 << 20
"""The largest weight of a batch, in bytes."""


class WorkerLostError(Exception):
    """A worker process ended before its work was done; the message says how."""


def in_batches(tasks: Sequence[T], processes: int, weigh: Callable[[T], int] = lambda task: 0) -> list[Sequence[T]]:
    """Return the tasks in batches for `map_batches`.

    A batch has many tasks, so that a worker may run a step for all of them before the next step, while the processor's
    caches hold the code of the step.  Batches are smaller at the end, so that all workers finish at the same time.  A
    batch weighs no more than a megabyte, or is one task.
    """
    batches: list[Sequence[T]] = []
    at = 0
    while at < len(tasks):
        share = (len(tasks) - at) // (2 * processes)
        batch = tasks[at : at + max(_LAST_TASKS, min(_MAX_TASKS, share))]
        light = sum(total <= _MAX_WEIGHT_BYTES for total in accumulate(map(weigh, batch)))
        batches.append(batch[: max(light, 1)])
        at += len(batches[-1])
    return batches


def map_batches(
    work: Callable[[T, int], Any],
    batches: Sequence[T],
    processes: int,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[Any]:
    """Yield `work(batch, worker)` for every batch, in any order; `worker` counts the processes from 0.

    With one process, or too few batches, this process does all work.  An exception of a worker is raised here, with its
    traceback as a note.  Raises WorkerLostError when a worker was killed or crashed.  This process calls `meanwhile`
    after it started the others.
    """
    if processes < 2 or len(batches) < _MIN_BATCHES:
        yield from (work(batch, 0) for batch in batches)
        return
    started = _start_all(work, batches, min(processes, len(batches)))
    waiting = len(batches)
    try:
        meanwhile()
        for made in _answers([pipe for _, pipe in started]):
            waiting -= 1
            yield made
        if waiting:
            raise WorkerLostError(_how_it_ended(_wait_for(started)))
    finally:
        _wait_for(started)


def _wait_for(started: list[tuple[int, int]]) -> list[int]:
    """Wait for the workers to end, and return their exit codes; the code of a worker that a signal ended is the
    negative number of the signal.
    """
    for _, pipe in started:
        os.close(pipe)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _ in started]
    started.clear()
    return codes


def _how_it_ended(codes: Sequence[int]) -> str:
    """Return the reason for which a worker did not finish its work, from the exit codes of all workers."""
    code = next((code for code in codes if code), 0)
    if code == -signal.SIGKILL:
        return "a worker process was killed (SIGKILL); is there too little memory?"
    if code < 0:
        return f"a worker process crashed ({_signal_name(-code)})"
    return f"a worker process ended with exit code {code} before its work was done"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


def _start_all(work: Callable[[T, int], Any], batches: Sequence[T], count: int) -> list[tuple[int, int]]:
    """Fork `count` workers, and return the process of each and the pipe of its answers."""
    tasks = _queue(len(batches))
    gc.freeze()  # otherwise the first collection in a worker copies all inherited memory
    started: list[tuple[int, int]] = []
    for worker in range(count):
        started.append(_start(work, batches, tasks, worker, [pipe for _, pipe in started]))
    gc.unfreeze()
    os.close(tasks)
    return started


def _queue(count: int) -> int:
    """Return a pipe that holds the numbers below `count`.  A pipe takes 64 KB, so `count` is at most 16 thousand."""
    out, into = os.pipe()
    with os.fdopen(into, "wb") as file:
        file.write(b"".join(_NUMBER.pack(number) for number in range(count)))
    return out


def _start(
    work: Callable[[T, int], Any], batches: Sequence[T], tasks: int, worker: int, others: Sequence[int]
) -> tuple[int, int]:
    """Fork a worker, and return its process and the pipe of its answers.

    `others` are the pipes of the workers before.  A worker that held one open would keep the other worker alive after
    their parent is gone.
    """
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    code = 1
    try:
        for pipe in (out, *others):
            os.close(pipe)
        gc.set_threshold(500_000)  # texts leave no reference cycles, so searching for them is useless
        gc.enable()  # the parent may have disabled it
        with os.fdopen(into, "wb") as answers:
            while number := os.read(tasks, _NUMBER.size):
                if not _answer(answers, work, batches[_NUMBER.unpack(number)[0]], worker):
                    while os.read(tasks, 1 << 16):  # the other workers have nothing left to do
                        pass
        code = 0
    except BrokenPipeError:
        code = 0  # the parent is gone
    finally:
        os._exit(code)


def _answer(answers: Any, work: Callable[[T, int], Any], batch: T, worker: int) -> bool:
    """Send the result of a batch, or the exception, and return whether it is a result."""
    failed = None
    try:
        data = pickle.dumps((work(batch, worker), None))
    except BaseException as error:
        failed, data = error, _pickle_error(error)
    answers.write(_LENGTH.pack(len(data)))
    answers.write(data)
    answers.flush()
    return failed is None


def _pickle_error(error: BaseException) -> bytes:
    """Return an exception for the parent, with its traceback.

    A WorkerLostError replaces an exception that would end the parent (SystemExit), or that cannot be pickled.
    """
    text = f"in a worker process:\n{traceback.format_exc()}"
    error.add_note(text)
    if isinstance(error, Exception | KeyboardInterrupt):
        with contextlib.suppress(Exception):
            data = pickle.dumps((None, error))
            pickle.loads(data)
            return data
    return pickle.dumps((None, WorkerLostError(text)))


def _answers(pipes: Sequence[int]) -> Iterator[Any]:
    buffers = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data, buffer = os.read(key.fd, 1 << 20), buffers[key.fd]
                buffer += data
                yield from _complete(buffer)
                if not data:
                    selector.unregister(key.fd)


def _complete(buffer: bytearray) -> Iterator[Any]:
    """Take the complete answers out of the buffer, and yield them."""
    while len(buffer) >= _LENGTH.size:
        end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        made, error = pickle.loads(memoryview(buffer)[_LENGTH.size : end])
        del buffer[:end]
        if error is not None:
            raise error
        yield made
