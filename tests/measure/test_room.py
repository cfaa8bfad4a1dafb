"""Threads that divide the memory of a GPU."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.room import Room
from sitegen.model.kernel import Status


def test_the_parts_that_are_held_at_a_time_never_exceed_the_room() -> None:
    room, lock, held, most = Room(100), threading.Lock(), [0], [0]

    def take(size: int) -> None:
        with room.part(size):
            with lock:
                held[0] += size
                most[0] = max(most[0], held[0])
            time.sleep(0.001)
            with lock:
                held[0] -= size

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(take, [60, 30, 10, 50, 40, 20, 100, 70] * 8))
    assert 60 < most[0] <= 100


def test_a_part_larger_than_the_room_waits_until_it_is_alone() -> None:
    room, order = Room(10), list[str]()

    def take_all() -> None:
        with room.part(1000):
            order.append("all")

    with room.part(1):
        thread = threading.Thread(target=take_all)
        thread.start()
        time.sleep(0.02)
        order.append("small")
    thread.join(5)
    assert order == ["small", "all"]


def test_a_large_part_is_not_overtaken_by_later_small_ones() -> None:
    room, order, asked = Room(10), list[str](), threading.Event()

    def take(name: str, size: int) -> None:
        asked.set()
        with room.part(size):
            order.append(name)

    with room.part(6):
        large = threading.Thread(target=take, args=("large", 9))
        large.start()
        asked.wait(5)
        time.sleep(0.05)
        small = threading.Thread(target=take, args=("small", 2))
        small.start()
        time.sleep(0.05)
        assert order == []
    large.join(5)
    small.join(5)
    assert order == ["large", "small"]


def test_a_part_is_given_back_when_its_work_fails() -> None:
    room = Room(10)
    for _ in range(2):
        try:
            with room.part(10):
                raise RuntimeError
        except RuntimeError:
            continue


def test_work_that_runs_out_of_memory_beside_others_is_done_once_more_alone() -> None:
    room, freed, calls = Room(10), threading.Event(), list[bool]()

    def work() -> None:
        calls.append(freed.is_set())
        if not freed.is_set():
            raise EvaluationEnded(Status.OUT_OF_MEMORY, "tried to allocate 1 GiB")

    with ThreadPoolExecutor(1) as pool, room.part(6):
        done = pool.submit(room.do, 3, work)
        time.sleep(0.02)
        assert calls == [False]  # the second time waits for the other part
        freed.set()
    done.result()
    assert calls == [False, True]


def test_work_that_runs_out_of_memory_alone_or_fails_otherwise_is_not_repeated() -> None:
    room, calls = Room(10), list[Status]()
    for status, times in ((Status.OUT_OF_MEMORY, 2), (Status.INCORRECT, 1)):

        def fail(status: Status = status) -> None:
            calls.append(status)
            raise EvaluationEnded(status, "")

        with pytest.raises(EvaluationEnded):
            room.do(1, fail)
        assert calls.count(status) == times


def test_a_context_that_checks_leave_no_memory_for_waits_until_they_have_ended() -> None:
    room, freed, calls = Room(10), threading.Event(), list[bool]()

    def make_context() -> None:
        calls.append(freed.is_set())
        if not freed.is_set():
            raise EvaluationEnded(Status.OUT_OF_MEMORY, "CUDA error: out of memory")

    with ThreadPoolExecutor(1) as pool, room.part(10):
        made = pool.submit(room.do_outside, make_context)
        time.sleep(0.02)
        assert calls == [False]  # the first time waits for nothing, though the room is full
        freed.set()
    made.result()
    assert calls == [False, True]
