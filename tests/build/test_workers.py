"""Work on all cores."""

from __future__ import annotations

import os
import signal

import pytest

from sitegen.build.workers import WorkerLostError, each

LARGE = "x" * 1_000_000
"""More than a pipe takes."""


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_batch_is_answered_once(processes: int) -> None:
    assert sorted(each(lambda batch, worker: batch * 2, list(range(40)), processes)) == list(range(0, 80, 2))


def test_a_mistake_in_a_worker_is_raised_while_others_have_much_to_say() -> None:
    def work(batch: int, worker: int) -> str:
        if batch == 1:
            raise ValueError("no")
        return LARGE

    with pytest.raises(ValueError, match="no"):
        list(each(work, list(range(20)), 3))


def test_who_stops_listening_ends_the_workers() -> None:
    answers = each(lambda batch, worker: LARGE, list(range(20)), 3)
    next(answers)
    answers.close()  # type: ignore[attr-defined]


def test_a_killed_worker_is_a_mistake_and_no_short_answer() -> None:
    def work(batch: int, worker: int) -> int:
        if batch == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    with pytest.raises(WorkerLostError):
        list(each(work, list(range(6)), 2))
