"""What a run shows: lines in a log, a table on a terminal, JSON for a program."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import pytest

from sitegen.cli import run_progress
from sitegen.cli.run_progress import RunState, cells, fitting, run_report, table_lines
from sitegen.execute.progress import Progress, end_of_job
from sitegen.model.job import JOB_SCHEMA, JobResult
from sitegen.model.kernel import Status
from sitegen.model.plain import to_plain
from sitegen.model.record import Environment, Evaluation, Rejection, Role

HERE = Environment("NVIDIA H200", "sm_90", 132, 1, 1, "", "", "", "", "", 0.0, 0.0, False)

STEPS = (
    Progress("axpy@64:float32", "started", 0, 3, place="gpu1"),
    Progress("sum@64:float32", "started", 0, 3, place="gpu2"),
    Progress("axpy@64:float32", "finished", 1, 3, 60.0),
    Progress("softmax@64:float32", "started", 1, 3, place="gpu1"),
    Progress("sum@64:float32", "started", 1, 3, place="gpu3"),
    Progress("sum@64:float32", "failed", 2, 3, 30.0, "the worker was lost"),
)


def test_a_log_has_a_line_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    with run_report() as report:
        for step in STEPS:
            report(step)
    said = capsys.readouterr().err
    assert said.splitlines()[0] == "[0/3] axpy@64:float32 started on gpu1"
    assert said.splitlines()[-1] == "[2/3] sum@64:float32 failed 30 s the worker was lost"
    assert "\x1b" not in said


def test_a_program_gets_each_step_as_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    with run_report(as_json=True) as report:
        for step in STEPS:
            report(step)
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(events) == len(STEPS)
    assert events[1] == {
        **{"event": "job", "job": "sum@64:float32", "state": "started", "done": 0, "total": 3},
        **{"seconds": 0.0, "message": "", "place": "gpu2", "gpu": "", "rounds": 0},
    }


def test_the_rounds_of_a_job_are_no_lines_of_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with run_report() as report:
        report(Progress("axpy@64:float32", "measuring", 0, 3, place="gpu1", rounds=7))
    assert capsys.readouterr().err == ""


def state_after(*steps: Progress) -> RunState:
    state = RunState()
    for step in steps:
        state.add(step, 100.0)
    return state


def test_a_table_names_the_job_of_each_place_and_the_time_left() -> None:
    rows = table_lines(state_after(*STEPS[:4]), 130.0)
    assert [row.split() for row in rows[:2]] == [
        ["gpu1", "softmax@64:float32", "30", "s"],
        ["gpu2", "sum@64:float32", "30", "s"],
    ]
    assert rows[-1].endswith("1 of 3 jobs, about 30 s left")


def test_a_table_shows_the_rounds_of_a_job_and_the_model_of_its_gpu() -> None:
    began = Progress("axpy@64:float32", "started", 0, 3, place="gpu1", gpu="nvidia-h200")
    first, second = (replace(began, state="measuring", rounds=n) for n in (1, 12))
    assert table_lines(state_after(began), 130.0)[0].split()[1:4] == ["nvidia-h200", "axpy@64:float32", "30"]
    assert " 1 round " in table_lines(state_after(began, first), 130.0)[0]
    assert " 12 rounds " in table_lines(state_after(began, first, second), 130.0)[0]
    ended = replace(began, state="finished", done=1, seconds=30.0, place="", gpu="")
    assert table_lines(state_after(began, second, ended), 130.0)[0].split() == ["gpu1", "nvidia-h200", "idle"]


def test_late_rounds_of_a_worker_that_was_lost_are_not_shown() -> None:
    late = Progress("sum@64:float32", "measuring", 1, 3, place="gpu2", rounds=40)
    assert not any("40" in row for row in table_lines(state_after(*STEPS[:5], late), 100.0))


def test_a_job_that_starts_again_leaves_the_place_that_lost_it() -> None:
    rows = table_lines(state_after(*STEPS[:5]), 100.0)
    assert [row.split()[:2] for row in rows[:3]] == [
        ["gpu1", "softmax@64:float32"],
        ["gpu2", "its"],
        ["gpu3", "sum@64:float32"],
    ]


def test_no_time_is_promised_before_a_job_has_ended() -> None:
    assert "left" not in table_lines(state_after(*STEPS[:2]), 100.0)[-1]


def test_a_terminal_shows_the_table_over_itself_and_keeps_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(run_progress, "REDRAW_S", 60.0)
    with run_report() as report:
        for step in STEPS:
            report(step)
    drawn = terminal.getvalue()
    assert "\x1b[4A" in drawn
    assert drawn.count("the worker was lost") == 1
    assert "2 of 3 jobs, 1 failed" in drawn.rpartition("\x1b[J")[2]


@pytest.mark.parametrize(
    ("count", "height", "shown"),
    [
        (3, 24, ["0", "1", "2"]),
        (22, 24, [str(n) for n in range(22)]),
        (41, 24, [*(str(n) for n in range(21)), "… and 20 more"]),
        (9, 1, ["0", "… and 8 more"]),
    ],
)
def test_a_table_has_no_more_lines_than_the_terminal_can_draw_over(count: int, height: int, shown: list[str]) -> None:
    assert fitting([str(n) for n in range(count)], height) == shown


LONG = "attention_backward@b4 h16 s4096 d128:bfloat16 causal=true sm_scale=0.08838834764831845 dropout=0.0"
H200 = {"gpu": "nvidia-h200"}
LAB = (
    Progress("matmul@4096:bfloat16", "started", 0, 9, place="gpu1.lab.example", **H200),
    Progress(LONG, "started", 0, 9, place="gpu2.lab.example", **H200),
    Progress("posts/행렬-곱과-타일", "started", 0, 9, place="gpu3.lab.example", **H200),
    Progress(LONG, "measuring", 0, 9, place="gpu2.lab.example", **H200, rounds=128),
    Progress("matmul@4096:bfloat16", "finished", 1, 9, 60.0),
    Progress("posts/행렬-곱과-타일", "started", 1, 9, place="gpu1.lab.example", **H200),
    Progress("scan@64Mi:float32", "started", 1, 9, place="gpu4.lab.example", **H200),
    Progress("scan@64Mi:float32", "failed", 2, 9, 700.0, "the job took more than 700 s"),
)
AT_80 = """\
gpu1.lab.example  nvidia-h200  posts/행렬-곱과-타일                  1 h 01 min
gpu2.lab.example  nvidia-h200  attention_backward@b4 h…  128 rounds  1 h 01 min
gpu3.lab.example  nvidia-h200  its worker was lost
gpu4.lab.example  nvidia-h200  idle
"""
AT_120 = """\
gpu1.lab.example  nvidia-h200  posts/행렬-곱과-타일                                                          1 h 01 min
gpu2.lab.example  nvidia-h200  attention_backward@b4 h16 s4096 d128:bfloat16 causal=true sm_sc…  128 rounds  1 h 01 min
gpu3.lab.example  nvidia-h200  its worker was lost
gpu4.lab.example  nvidia-h200  idle
"""
REST = """\
██████░░░░░░░░░░░░░░░░░░░░░░░░ 2 of 9 jobs, 1 failed, about 10 min 33 s left
"""


@pytest.mark.parametrize(("columns", "wanted"), [(80, AT_80), (120, AT_120)])
def test_table_fits_the_terminal(columns: int, wanted: str) -> None:
    lines = table_lines(state_after(*LAB), 3760.0, columns - 1)
    assert lines == (wanted + REST).splitlines()
    assert max(map(cells, lines)) <= columns - 1


@pytest.mark.parametrize("columns", [1, 12, 40, 79, 400])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    lines = table_lines(state_after(*LAB), 3760.0, columns)
    assert len(lines) == 5 and all(cells(line) <= columns for line in lines)


def ended(*statuses: Status, gpu: bool = False) -> Progress:
    """Return the end of a job in which implementations end so, and `wrong/race` passes the gates."""
    found = [
        Evaluation(Role.IMPLEMENTATION, f"tile{n}", "64", "float32", "", status, message="line 3")
        for n, status in enumerate(statuses)
    ]
    wrong = (Rejection("race", Status.RACE, Status.PASSED, "", message=""),) if gpu else ()
    result = JobResult(JOB_SCHEMA, "axpy@64:float32", "kernel", HERE if gpu else None, tuple(found), rejections=wrong)
    return end_of_job("axpy@64:float32", {"results": [to_plain(result)]}, 1, 2, 4.0)


def test_a_job_in_which_something_is_wrong_failed_and_says_why_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with run_report() as report:
        report(ended(Status.PASSED, Status.OUT_OF_BOUNDS))
        report(ended(Status.PASSED, Status.OUT_OF_BOUNDS))
    assert capsys.readouterr().err.splitlines() == [
        "[1/2] axpy@64:float32 failed 4 s",
        "error: axpy/tile1 (64:float32): out of bounds: line 3",
        "[1/2] axpy@64:float32 failed 4 s as above",
    ]


def test_what_the_tools_judge_later_has_not_failed_when_its_job_ends() -> None:
    assert ended(Status.PASSED, gpu=True).state == "finished"
    assert ended(Status.PASSED, Status.INCORRECT, gpu=True).state == "failed"
    assert ended(Status.NOT_RUN).state == "finished"


def test_a_program_gets_the_reason_of_a_failure_as_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    with run_report(as_json=True) as report:
        report(ended(Status.OUT_OF_BOUNDS))
    event = json.loads(capsys.readouterr().out)
    assert event["message"] == "error: axpy/tile0 (64:float32): out of bounds: line 3" and "results" not in event
