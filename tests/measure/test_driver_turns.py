"""Jobs of several GPUs create their contexts in turn, and none waits for ever."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from sitegen.measure import driver_turns
from sitegen.measure.driver_turns import shares_driver, turn_at_driver
from sitegen.model.variables import DRIVER_LOCK, passed_on

HOLD = """
import sys, time
from sitegen.measure.driver_turns import turn_at_driver
with turn_at_driver():
    print("holds", flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv(DRIVER_LOCK, str(tmp_path / "driver"))


def holder(seconds):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "holds\n"
    return process


def test_a_lock_that_is_held_for_ever_is_waited_for_a_while_only(lock, monkeypatch):
    monkeypatch.setattr(driver_turns, "LONGEST_WAIT_S", 0.2)
    other, began = holder(60), time.monotonic()
    with turn_at_driver():
        assert 0.2 <= time.monotonic() - began < 5
    other.kill()
    other.communicate()


def test_a_turn_begins_when_the_one_before_has_ended_also_by_a_kill(lock):
    other = holder(0.4)
    with turn_at_driver():
        assert other.wait(5) == 0
    other.communicate()
    other = holder(60)
    other.kill()
    with turn_at_driver():
        assert other.wait(5) == -9
    other.communicate()


def test_alone_on_a_host_there_is_nothing_to_wait_for(monkeypatch):
    monkeypatch.setenv(DRIVER_LOCK, "")
    assert not shares_driver()
    with turn_at_driver(), turn_at_driver():
        pass


def test_the_name_of_the_lock_reaches_the_process_that_measures():
    assert passed_on({DRIVER_LOCK: "a/file"}) == {DRIVER_LOCK: "a/file"}
