"""A process that answers over a pipe: one that said END is not waited for, one that died says how."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.measure.try_job import lines_of_process

BEGIN = """
import os, sys, time
def say(text): os.write(int(sys.argv[1]), text.encode())
say('{"begin": "a"}\\n')
"""
Ended = tuple[list[dict[str, Any]], str, float]
"""The lines, how the process ended, and the seconds that this took."""
started: list[subprocess.Popen[bytes]] = []


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[Any]:
    def fork(program: str, arguments: Sequence[str], log: Path, fds: Sequence[int]) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-c", program, *map(str, fds), *arguments],
                    pass_fds=fds,
                    stderr=output,
                    start_new_session=True,
                )
            )
        return started[-1]

    def run(program: str, seconds: float = 60.0) -> Ended:
        began, workspace = time.monotonic(), SimpleNamespace(folder=tmp_path, forks=SimpleNamespace(fork=fork))
        lines, why = lines_of_process(BEGIN + program, [], workspace, seconds)
        return lines, why, time.monotonic() - began

    yield run
    while started:
        started[-1].kill()
        started.pop().wait()


def test_a_process_that_has_answered_everything_is_not_waited_for(ended: Any) -> None:
    lines, why, seconds = ended("""say('{"end": true}\\n'); os.close(int(sys.argv[1])); time.sleep(60)""")
    assert (lines[0], why) == ({"begin": "a"}, "")
    assert seconds < 30


def test_a_process_that_dies_says_how_and_the_piece_of_a_line_is_left_out(ended: Any) -> None:
    lines, why, _ = ended("""say('{"evalu'); sys.exit('the last words')""")
    assert (lines, why) == ([{"begin": "a"}], "the process ended with 1; the last words")


def test_a_process_has_time_for_its_last_words_after_its_answers(ended: Any) -> None:
    _, why, _ = ended("os.close(int(sys.argv[1])); time.sleep(0.3); sys.exit('the last words')")
    assert why == "the process ended with 1; the last words"


def test_a_process_that_dies_while_another_holds_its_pipe_is_noticed(ended: Any) -> None:
    lines, why, seconds = ended("if os.fork(): os._exit(7)\ntime.sleep(60)")
    assert (lines, why) == ([{"begin": "a"}], "the process ended with 7")
    assert seconds < 30


def test_a_process_over_its_time_is_ended(ended: Any) -> None:
    lines, why, seconds = ended("time.sleep(60)", seconds=2.0)
    assert (lines, why) == ([{"begin": "a"}], "the process took more than 2 s")
    assert seconds < 30 and started[-1].returncode == -signal.SIGTERM
