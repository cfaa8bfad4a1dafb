"""Divide the memory of the GPU among the threads of the parent, each of which has a child at work.

A thread takes a part before it asks its child for work that needs memory, and waits while the other parts leave too
little.  Parts are given in the order in which they were asked for, so a large one is not overtaken for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.kernel import Status


class Room:
    """Bytes that several threads divide."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._changed, self._waiting = Condition(), deque[object]()

    @contextmanager
    def part(self, size: int) -> Iterator[None]:
        """Hold so many bytes; a part that is larger than the room is the whole room."""
        size, ticket = min(size, self._size), object()
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: self._waiting[0] is ticket and self._free >= size)
            self._waiting.popleft()
            self._free -= size
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += size
                self._changed.notify_all()

    def do(self, size: int, work: Callable[[], None]) -> None:
        """Do work that takes about so many bytes; if it runs out of memory beside others, do it once more alone."""

        def in_a_part() -> None:
            with self.part(size):
                work()

        self._again_without_memory(in_a_part, work)

    def do_outside(self, work: Callable[[], None]) -> None:
        """Do work whose memory is no part of the room, at once; if it runs out of memory, once more while no part is
        held: the work in a part may take more than the part.
        """
        self._again_without_memory(work, work)

    def _again_without_memory(self, first: Callable[[], None], alone: Callable[[], None]) -> None:
        try:
            first()
        except EvaluationEnded as why:
            if why.status is not Status.OUT_OF_MEMORY:
                raise
            with self.part(self._size):
                alone()
