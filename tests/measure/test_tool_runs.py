"""A list of calls under a tool: a call that kills the process or hangs costs only its own result."""

from __future__ import annotations

import pytest

from sitegen.measure.tool_runs import FINISHED, MARK, ToolCommand, run_calls

PROGRAM = f"""
import os, sys, time
for number in sys.argv[1].split(","):
    print("{MARK} begin", number, flush=True)
    print("what the tool says of", number, flush=True)
    if number in "DIES":
        os._exit(7)
    if number in "HANGS":
        time.sleep(60)
    if number in "FAILS":
        print("{MARK} failed", number, "compile_error: no such file", flush=True)
        continue
    print("{MARK} end", number, flush=True)
print("{FINISHED}", flush=True)
"""


def runs(tmp_path, names, *, dies="", hangs="", fails="", program=PROGRAM):
    for word, numbers in (("DIES", dies), ("HANGS", hangs), ("FAILS", fails)):
        program = program.replace(word, numbers)
    tool = ToolCommand("tool", lambda _: [], ["-c", program], silence_s=2.0)
    return run_calls(tool, dict(enumerate(names)), tmp_path)


def test_a_call_that_kills_the_process_costs_itself_only(tmp_path):
    first, second = runs(tmp_path, ["a", "b", "c"], dies="1")
    assert (first.ended, first.failed) == ([0], {1: "the process ended with 7"})
    assert (second.calls, second.ended, second.failed) == ((2,), [2], {})


def test_who_ended_a_process_is_not_called_again(tmp_path):
    _, second = runs(tmp_path, ["a", "b", "a", "b", "c"], dies="0")
    assert second.calls == (1, 3, 4)


def test_a_call_that_hangs_is_ended_and_the_others_go_on(tmp_path):
    first, second = runs(tmp_path, ["a", "b"], hangs="0")
    assert first.failed == {0: "the process printed nothing for 2 s"}
    assert second.ended == [1]


def test_a_call_that_fails_by_itself_leaves_the_process_alive(tmp_path):
    (only,) = runs(tmp_path, ["a", "b", "c"], fails="1")
    assert (only.ended, only.failed, only.why) == ([0, 2], {1: "compile_error: no such file"}, "")


def test_what_was_printed_is_told_apart_by_call(tmp_path):
    (only,) = runs(tmp_path, ["a", "b"])
    assert "of 0" in only.sections()[0] and "of 1" not in only.sections()[0]
    assert "of 1" in only.sections()[1]


@pytest.mark.parametrize("program", ["import sys; sys.exit(3)", "import time; time.sleep(60)"])
def test_a_program_that_never_begins_is_not_started_twice(tmp_path, program):
    (only,) = runs(tmp_path, ["a", "b"], program=program)
    assert only.begun == [] and only.failed == {} and only.why


def test_a_process_that_ends_between_two_calls_blames_nobody(tmp_path):
    stops = f"print('{MARK} begin 0'); print('{MARK} end 0'); raise SystemExit(1)"
    (only,) = runs(tmp_path, ["a", "b"], program=stops)
    assert (only.ended, only.failed, only.why) == ([0], {}, "the process ended with 1")
