"""Work for all cores: forked processes that inherit whatever their parent knows, so that nothing large is sent.

The numbers of all tasks wait in one pipe, from which each worker takes the next; what it made comes back through a
pipe of its own.  A worker whose parent is gone ends at its next answer.
"""

from __future__ import annotations

import gc
import os
import pickle
import selectors
import struct
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")
_NUMBER = struct.Struct("<I")
_FEWEST = 2
"""Batches below which a fork costs more than it saves."""
_MOST = 64
"""Tasks in a batch: measured with posts of 10 KB, of which 16 gain less and 240 no more."""
_LAST = 8
_HEAVIEST = 1 << 20


class WorkerLostError(Exception):
    """A worker process ended before its work was done."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_batches(tasks: Sequence[T], processes: int, weigh: Callable[[T], int] = lambda task: 0) -> list[Sequence[T]]:
    """The tasks as `each` takes them: many at a time, so that a worker may do a step for all of them before the next
    for any, and its processor's caches have what the step needs; fewer at the end, so that no worker is left alone.

    A batch weighs no more than a megabyte, or is one task.
    """
    batches: list[Sequence[T]] = []
    at = 0
    while at < len(tasks):
        share = (len(tasks) - at) // (2 * processes)
        batch = tasks[at : at + max(_LAST, min(_MOST, share))]
        light = sum(total <= _HEAVIEST for total in accumulate(map(weigh, batch)))
        batches.append(batch[: max(light, 1)])
        at += len(batches[-1])
    return batches


def each(
    work: Callable[[T, int], Any],
    batches: Sequence[T],
    processes: int,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[Any]:
    """`work(batch, worker)` of every batch, in any order; `worker` counts the processes from 0.

    With one process, or too little to do, in this one.  An exception of a worker is raised here.  `meanwhile` is what
    this process does, if there are others, before the first of them answers.
    """
    if processes < 2 or len(batches) < _FEWEST:
        yield from (work(batch, 0) for batch in batches)
        return
    tasks = _queue(len(batches))
    gc.freeze()  # else the first collection in a worker copies all that it inherited
    started: list[tuple[int, int]] = []
    for worker in range(min(processes, len(batches))):
        started.append(_start(work, batches, tasks, worker, [pipe for _, pipe in started]))
    gc.unfreeze()
    os.close(tasks)
    waiting = len(batches)
    try:
        meanwhile()
        for made in _answers([pipe for _, pipe in started]):
            waiting -= 1
            yield made
        if waiting:
            raise WorkerLostError("a worker process was killed; is there too little memory?")
    finally:
        for _, pipe in started:
            os.close(pipe)
        for pid, _ in started:
            os.waitpid(pid, 0)


def _queue(count: int) -> int:
    """A pipe that holds the numbers below `count`; a pipe takes 64 KB, so there are at most 16 thousand."""
    out, into = os.pipe()
    with os.fdopen(into, "wb") as file:
        file.write(b"".join(_NUMBER.pack(number) for number in range(count)))
    return out


def _start(
    work: Callable[[T, int], Any], batches: Sequence[T], tasks: int, worker: int, others: Sequence[int]
) -> tuple[int, int]:
    """(process, pipe of its answers).  `others` are the pipes of those before: a worker that held one open would keep
    its sibling waiting for a parent that is gone.
    """
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    try:
        for pipe in (out, *others):
            os.close(pipe)
        gc.set_threshold(500_000)  # texts leave no cycles behind: to look for them is work for nothing
        gc.enable()  # whatever its parent does
        with os.fdopen(into, "wb") as answers:
            while number := os.read(tasks, _NUMBER.size):
                _answer(answers, work, batches[_NUMBER.unpack(number)[0]], worker)
    except BrokenPipeError:
        pass  # nobody listens any more
    finally:
        os._exit(0)


def _answer(answers: Any, work: Callable[[T, int], Any], batch: T, worker: int) -> None:
    try:
        data = pickle.dumps((work(batch, worker), None))
    except Exception as error:
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        data = pickle.dumps((None, error))
    answers.write(_LENGTH.pack(len(data)))
    answers.write(data)
    answers.flush()


def _answers(pipes: Sequence[int]) -> Iterator[Any]:
    buffers = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data, buffer = os.read(key.fd, 1 << 20), buffers[key.fd]
                buffer += data
                yield from _whole(buffer)
                if not data:
                    selector.unregister(key.fd)


def _whole(buffer: bytearray) -> Iterator[Any]:
    """The answers that have arrived entirely, taken out of the buffer."""
    while len(buffer) >= _LENGTH.size:
        end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        made, error = pickle.loads(memoryview(buffer)[_LENGTH.size : end])
        del buffer[:end]
        if error is not None:
            raise error
        yield made
