"""The report of several_gpus.py, and the table of makespan.py, on made-up runs."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from types import SimpleNamespace

import makespan
import pytest
import several_gpus
from several_gpus import intervals, lines_of, makespan_s, overlaps, per_minute, steady_per_minute

from sitegen.execute.targets import Device
from sitegen.results.verdicts import Verdict

SAME = Counter({Verdict.SAME: 2})


def run_of(gpus: int, jobs: int, killed: bool = False, job_s: float = 5.0):
    """Return what the script would see of jobs of equal length; the first of each GPU takes 2 s longer."""
    events, users = [], [{str(n): [100 + n] for n in range(gpus)}]
    for number in range(jobs):
        turn, gpu = divmod(number, gpus)
        began = turn * job_s + (2.0 if turn else 0.0) + gpu / 100
        ended = (turn + 1) * job_s + 2.0 + gpu / 100
        events += [event(began, number, "started", f"GPU {gpu}"), event(ended, number, "finished")]
    cores = {str(n): [2 * n, 2 * n + 1] for n in range(gpus)}
    seen = {
        "gpus": gpus,
        "jobs": jobs,
        "events": events,
        "users": users,
        "cores": cores,
        "killed": {},
        "complete": True,
    }
    if killed:  # the last job, after 1 s; its worker takes 2 s more to start again
        last = jobs - 1
        began = events[-2]["at"]
        events[-1:] = [event(began + 1.0, last, "started", f"GPU {gpus - 1}"), event(began + 8.0, last, "finished")]
        seen["killed"] = {"job": f"copy-{last}", "processes": 9, "gone": began + 0.9}
    events.sort(key=lambda one: one["at"])
    return seen


def event(at, number, state, place=""):
    return {"at": at, "job": f"copy-{number}", "state": state, "place": place, "message": "", "seconds": 0.0}


@pytest.fixture
def parts():
    one, several = run_of(1, several_gpus.JOBS), run_of(2, 2 * several_gpus.JOBS)
    return {"one": one, "all": several, "killed": run_of(2, 2 * several_gpus.FEW, killed=True)}


def missed(parts, verdicts=SAME, stages=None):
    return [line[0] for line in lines_of(parts, verdicts, stages or {}) if not line[3]]


def test_a_run_that_shares_its_jobs_meets_every_line(parts):
    assert missed(parts) == []
    assert per_minute(parts["all"]) / per_minute(parts["one"]) == pytest.approx(2.0, rel=0.01)


def test_two_jobs_at_one_place_are_seen_by_their_times(parts):
    parts["all"]["events"][2]["at"] = parts["all"]["events"][-1]["at"]  # the end of a first job
    assert "all: starts on a GPU before the last job there had ended" in missed(parts)


def test_two_jobs_that_use_one_gpu_are_seen_and_so_is_a_gpu_that_nobody_was_seen_to_use(parts):
    parts["all"]["users"].append({"0": [100, 107], "1": [101]})
    parts["one"]["users"] = [{"0": []}]
    assert missed(parts) == [
        "one: looks at which two jobs used a GPU, of 0",
        "all: looks at which two jobs used a GPU, of 4",
    ]


def test_a_core_of_two_workers_is_seen(parts):
    parts["all"]["cores"]["1"].append(0)
    assert missed(parts) == ["all: cores of two workers"]


def test_a_lost_job_and_a_job_that_was_done_twice_are_seen(parts):
    events = parts["all"]["events"]
    parts["all"]["events"] = [*events, {**events[-1], "job": events[0]["job"]}]
    assert "all: jobs with one result" in missed(parts)
    parts["all"]["events"] = [one for one in events if one["job"] != "copy-3"]
    assert "all: jobs with one result" in missed(parts)


def test_a_queue_that_two_gpus_do_hardly_faster_is_not_shared(parts):
    parts["all"] = run_of(2, 2 * several_gpus.JOBS, job_s=6.0)
    assert missed(parts) == ["all: jobs per minute, of those on one GPU", "all: error of the simulated seconds"]


def test_a_part_that_was_cut_short_misses_its_jobs_and_is_not_foretold(parts):
    parts["all"] = {**run_of(2, 4, job_s=9.0), "jobs": 2 * several_gpus.JOBS, "complete": False}
    assert missed(parts) == ["all: jobs with one result", "all: jobs per minute, of those on one GPU"]


def test_jobs_that_share_the_driver_are_foretold_to_take_longer(parts):
    stages = {f"copy-{n}": {"start": 2.0, "total": 5.0} for n in range(several_gpus.JOBS)}
    assert several_gpus.foretold_s(parts["all"], parts["one"], stages) > several_gpus.foretold_s(
        parts["all"], parts["one"], {}
    )


def test_a_job_that_begins_again_before_its_processes_are_gone_is_seen(parts):
    again = deepcopy(parts["killed"])
    again["killed"]["gone"] += 3.0
    assert overlaps(intervals(parts["killed"])) == []
    assert len(overlaps(intervals(again))) == 1


def test_rounds_of_a_job_do_not_end_it(parts):
    whole = intervals(parts["all"])
    parts["all"]["events"].insert(4, event(parts["all"]["events"][3]["at"], 1, "measuring", "GPU 1"))
    assert intervals(parts["all"]) == whole


def test_a_job_that_begins_again_uses_the_gpu_when_its_new_worker_times_it(parts):
    again = parts["killed"]
    again["killed"]["gone"] += 3.0
    last = again["events"][-1]
    again["events"].insert(-1, event(again["killed"]["gone"] + 0.5, last_number(again), "measuring", "GPU 1"))
    assert overlaps(intervals(again)) == []
    assert intervals(again)[-1][2:] == (again["killed"]["gone"] + 0.5, last["at"])


def last_number(seen):
    return seen["jobs"] - 1


def test_a_job_is_killed_while_it_is_timed():
    events = [event(0.0, 0, "started", "GPU 0"), event(0.0, 1, "started", "GPU 1"), event(3.0, 1, "measuring", "GPU 1")]
    assert several_gpus.job_under_way(events, "GPU 1") == ""
    events.append(event(4.0, 0, "finished"))
    assert several_gpus.job_under_way(events, "GPU 1") == "copy-1"
    assert several_gpus.job_under_way([*events, event(5.0, 1, "finished")], "GPU 1") == ""


def test_no_verdicts_are_no_agreement(parts):
    assert missed(parts, Counter()) == ["slower or faster than on one GPU, of 0"]
    assert missed(parts, SAME + Counter({Verdict.SLOWER: 1})) == ["slower or faster than on one GPU, of 3"]


def test_a_run_that_was_cut_short_counts_what_it_did():
    seen = run_of(1, 4)
    seen["events"] = seen["events"][:-1]
    assert len(intervals(seen)) == 3
    assert makespan_s(seen) == 17.0
    assert makespan_s({**seen, "events": []}) == 0.0 == per_minute({**seen, "events": []})


def test_the_table_of_makespans_marks_an_order_that_the_alphabet_beats(monkeypatch):
    lengths = {"a": 1.0, "b": 1.0, "z": 8.0}
    text, held = makespan.report(lengths, {})
    assert held and "z" in text
    monkeypatch.setattr(makespan, "simulate", lambda order, *_: makespan_of(order[0] == 8.0))
    assert not makespan.report(lengths, {})[1]


def makespan_of(longest_first: bool):
    return type("Schedule", (), {"makespan": 20.0 if longest_first else 10.0})


def test_the_first_job_of_each_gpu_counts_for_no_steady_rate():
    slow_start = run_of(2, 8)
    assert steady_per_minute(slow_start) == pytest.approx(24.0)
    assert per_minute(slow_start) < 22.0
    assert steady_per_minute(run_of(2, 2)) == 0.0


def test_two_gpus_of_more_are_judged_by_their_own_number(parts):
    parts |= {"two": parts["all"], "all": run_of(4, 4 * several_gpus.JOBS)}
    assert missed(parts) == []
    parts["two"] = run_of(2, 2 * several_gpus.JOBS, job_s=5.35)  # 1.87 times as many
    assert missed(parts) == ["two: jobs per minute, of those on one GPU"]
    parts["all"] = run_of(4, 4 * several_gpus.JOBS, job_s=5.45)  # 3.67 times as many
    assert "all: jobs per minute, of those on one GPU" in missed(parts)


def test_stages_are_listed_for_each_gpu_without_its_first_job(parts):
    results = [SimpleNamespace(id=f"copy-{n}", seconds={"start": 9.0 if n < 2 else 1.0 + n % 2}) for n in range(8)]
    rows = list(several_gpus.stage_rows({"all": run_of(2, 8), "warm": run_of(2, 2)}, {"all": results}))
    start = 4 + several_gpus.STAGES.index("start")
    assert [(*row[:4], row[start]) for row in rows] == [
        ("all", "GPU 0", 3, pytest.approx(5.0), 1.0),
        ("all", "GPU 1", 3, pytest.approx(5.0), 2.0),
    ]


def test_a_part_for_which_no_time_is_left_does_not_begin(monkeypatch, tmp_path):
    began = []
    monkeypatch.setattr(several_gpus, "gpus", lambda: (Device(), Device()))
    monkeypatch.setattr(several_gpus, "the_job", lambda: None)
    monkeypatch.setattr(several_gpus, "run_part", lambda name, *others: began.append((name, others[4])))
    several_gpus.measure(tmp_path, several_gpus.PARTS, 60.0, 16, 4)
    assert began == [("warm", 1), ("one", 4), ("killed", several_gpus.FEW), ("all", 16)]
    several_gpus.measure(tmp_path, several_gpus.PARTS, 5.0, 16, 4)
    assert len(began) == 4
