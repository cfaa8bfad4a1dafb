"""Worker processes on all cores."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.pipeline.workers import WorkerLostError, in_batches, map_batches

LARGE = "x" * 1_000_000
"""Number of bytes that is larger than the buffer of a pipe."""


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_batch_is_answered_once(processes: int) -> None:
    assert sorted(map_batches(lambda batch, worker: batch * 2, list(range(40)), processes)) == list(range(0, 80, 2))


@given(st.lists(st.integers(0, 3 << 20)), st.integers(1, 9))
def test_batches_are_the_tasks_in_their_order_and_none_is_too_heavy_for_two(weights: list[int], processes: int) -> None:
    batches = in_batches(weights, processes, lambda weight: weight)
    assert [weight for batch in batches for weight in batch] == weights
    assert all(len(batch) == 1 or sum(batch) <= 1 << 20 for batch in batches)


def test_batches_are_smaller_at_the_end() -> None:
    sizes = [len(batch) for batch in in_batches(range(1000), 2)]
    assert sizes[0] > sizes[-2] >= sizes[-1]
    assert sizes == sorted(sizes, reverse=True)


def test_what_fits_into_one_batch_is_not_spread() -> None:
    assert in_batches("abc", 8) == ["abc"]


def test_a_mistake_in_a_worker_is_raised_while_others_have_much_to_say() -> None:
    def work(batch: int, worker: int) -> str:
        if batch == 1:
            raise ValueError("no")
        return LARGE

    with pytest.raises(ValueError, match="no") as caught:
        list(map_batches(work, list(range(20)), 3))
    assert "in work" in caught.value.__notes__[0]


def test_who_stops_listening_ends_the_workers() -> None:
    answers = map_batches(lambda batch, worker: LARGE, list(range(20)), 3)
    next(answers)
    answers.close()  # type: ignore[attr-defined]


def lost(crash: Callable[[], object]) -> str:
    """Return the message about a worker that crashes in the middle of its work."""

    def work(batch: int, worker: int) -> int:
        if batch == 3:
            crash()
        return batch

    with pytest.raises(WorkerLostError) as caught:
        list(map_batches(work, list(range(6)), 2))
    return str(caught.value)


def test_a_killed_worker_is_a_mistake_and_no_short_answer() -> None:
    message = lost(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert message == "a worker process was killed (SIGKILL); is there too little memory?"


@pytest.mark.parametrize(("number", "name"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGABRT, "SIGABRT")])
def test_a_worker_that_crashes_says_by_which_signal_and_nothing_of_memory(number: int, name: str) -> None:
    def crash() -> None:
        faulthandler.disable()  # it would print the stack of the worker among the tests
        os.kill(os.getpid(), number)

    assert lost(crash) == f"a worker process crashed ({name})"


def test_after_a_failure_no_batch_begins(tmp_path: Path) -> None:
    """Each page of a bad template takes seconds to fail."""

    def work(batch: int, worker: int) -> None:
        (tmp_path / str(batch)).touch()
        raise ValueError

    with pytest.raises(ValueError):
        list(map_batches(work, list(range(100)), 2))
    assert len(list(tmp_path.iterdir())) <= 4


def test_a_worker_that_leaves_says_its_exit_code() -> None:
    assert lost(lambda: os._exit(7)) == "a worker process ended with exit code 7 before its work was done"


def test_a_worker_that_wants_to_end_the_program_shows_where() -> None:
    message = lost(lambda: sys.exit("enough"))
    assert "SystemExit: enough" in message and "in lost" not in message and "in work" in message


class SilentError(Exception):
    """An exception that cannot be constructed again from its arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def test_an_exception_that_cannot_be_sent_shows_its_traceback() -> None:
    def crash() -> None:
        raise SilentError("no", "way")

    message = lost(crash)
    assert "SilentError: no way" in message and "in crash" in message
