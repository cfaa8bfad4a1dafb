"""Work on all cores."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.build.workers import WorkerLostError, each, in_batches

LARGE = "x" * 1_000_000
"""More than a pipe takes."""


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_batch_is_answered_once(processes: int) -> None:
    assert sorted(each(lambda batch, worker: batch * 2, list(range(40)), processes)) == list(range(0, 80, 2))


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
